#include "cli/worker_check.h"

#include <utility>

#include "cli/printable.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "support/child_process.h"

namespace hone::cli {
namespace {

// A steady machine has some thousandths; a noisy neighbour makes it tenths.
constexpr double kUnsteadySpread = 0.05;

Finding Failed(const std::string& found) {
  return {"worker", Level::kProblem, found,
          "reinstall hone: `hone` and `hone-measure` are of one release, in one folder"};
}

Finding SandboxOf(const nlohmann::json& description) {
  const std::string level = description.value("sandbox", "none");
  const std::string why_not = Printable(description.value("why_not_stricter", ""));
  const std::string parted = Printable(description.value("isolation", ""));
  if (level == "strict") return {"sandbox", Level::kOk, fmt::format("strict; {}", parted), ""};
  if (level == "limits") {
    return {
        "sandbox", Level::kWarning, fmt::format("limits only: {}", why_not),
        "let containers use seccomp and no_new_privs (docs/measuring.md), or start hone-measure "
        "with --sandbox limits where candidates are trusted"};
  }
  return {"sandbox", Level::kProblem, fmt::format("none: {}", why_not),
          "hone-measure does not start here; measure on another machine"};
}

// A line for each device behind a driver, and one that names the drivers that are missing.
Findings DevicesOf(const nlohmann::json& description) {
  Findings findings;
  for (const nlohmann::json& device : description.value("devices", nlohmann::json::array())) {
    const std::string name = Printable(device.value("device", ""));
    const std::string problem = Printable(device.value("problem", ""));
    const std::string found = fmt::format("{} ({})", Printable(device.value("target", "")),
                                          Printable(device.value("driver", "")));
    if (problem.empty()) {
      findings.push_back({name, Level::kOk, found, ""});
    } else {
      findings.push_back(
          {name, Level::kWarning, fmt::format("{}: {}", found, problem),
           "let candidates open it (docs/measuring.md), or hone-measure does not offer it"});
    }
  }
  const auto all_missing = description.value("missing", nlohmann::json::array());
  if (!findings.empty() && all_missing.empty()) return findings;
  std::string text = findings.empty() ? "none behind a driver" : "no others behind a driver";
  for (const nlohmann::json& missing : all_missing) {
    text += fmt::format("; {}", Printable(missing.get<std::string>()));
  }
  findings.push_back({"devices", Level::kOk, text, ""});
  return findings;
}

Finding SteadinessOf(const nlohmann::json& description) {
  const double spread = description.value("spread", 0.0);
  const std::string found = fmt::format("the calibrator takes {:.2f} us, spread {:.1f} %",
                                        description.value("calibrator_us", 0.0), 100 * spread);
  if (spread <= kUnsteadySpread) return {"steadiness", Level::kOk, found, ""};
  return {"steadiness", Level::kWarning, found,
          "something disturbs the processor: look at load, governor and SMT above, and at other "
          "guests of a virtual machine's host"};
}

}  // namespace

Findings ReadDescription(const std::string& line) {
  const nlohmann::json description = nlohmann::json::parse(line, nullptr, false);
  if (!description.is_object()) {
    return {Failed("hone-measure --describe printed no description, but: " + Printable(line))};
  }
  try {
    Findings findings = {{"worker", Level::kOk,
                          fmt::format("{}, {} threads", Printable(description.value("build", "")),
                                      description.value("threads", 0)),
                          ""},
                         SandboxOf(description),
                         SteadinessOf(description)};
    for (Finding& device : DevicesOf(description)) findings.push_back(std::move(device));
    return findings;
  } catch (const nlohmann::json::exception&) {
    return {Failed("hone-measure --describe printed another description than this release reads")};
  }
}

Findings CheckWorkerProgram(const std::string& program, int64_t limit_ns) {
  absl::StatusOr<ChildProcess> child = ChildProcess::Start({program, "--describe"});
  if (!child.ok()) return {Failed(std::string(child.status().message()))};
  const absl::StatusOr<std::string> line = child->ReadLine(limit_ns);
  if (line.ok()) return ReadDescription(*line);
  if (absl::IsDeadlineExceeded(line.status())) {
    return {Failed(
        fmt::format("hone-measure --describe says nothing within {} s", limit_ns / 1'000'000'000))};
  }
  return {Failed("hone-measure --describe ended without a description")};
}

}  // namespace hone::cli
