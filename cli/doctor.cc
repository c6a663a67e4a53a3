// `hone doctor`: what of this machine, the database and the farm is well, and what to do about the
// rest.
#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "cli/database_check.h"
#include "cli/finding.h"
#include "cli/json_document.h"
#include "cli/machine_check.h"
#include "cli/model_options.h"
#include "cli/server_check.h"
#include "cli/service_address.h"
#include "cli/verb.h"
#include "cli/worker_check.h"
#include "fmt/format.h"
#include "support/child_process.h"

namespace hone::cli {
namespace {

// Calibrating takes some milliseconds, trying the sandbox less, and a driver up to seconds.
constexpr int64_t kDescribeLimitNs = 15'000'000'000;

struct DoctorOptions {
  std::string server;
  std::string database;
  bool json = false;
};

const char* NameOf(Level level) {
  static const std::map<Level, const char*> kNames = {
      {Level::kOk, "ok"}, {Level::kWarning, "warning"}, {Level::kProblem, "problem"}};
  return kNames.at(level);
}

Findings CheckAnyServer(const DoctorOptions& options) {
  const absl::StatusOr<std::string> address = ServiceAddress(options.server, options.database);
  if (!address.ok()) {
    return {{"server", Level::kProblem, std::string(address.status().message()),
             "give --server unix:PATH, a join string, or @FILE with one"}};
  }
  if (!address->empty()) return CheckServer(*address);
  return {{"server", Level::kOk, "none runs here; `hone tune` starts one of its own", ""}};
}

Findings CheckAll(const DoctorOptions& options) {
  Findings all = CheckMachine(RealMachine());
  const auto add = [&all](const Findings& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  add(CheckWorkerProgram(ExecutableFolder() + "/hone-measure", kDescribeLimitNs));
  // With --server it is the server's, which this machine need not have.
  if (options.server.empty()) add(CheckDatabase(DatabasePath(options.database)));
  add(CheckAnyServer(options));
  return all;
}

void Print(const Findings& findings) {
  for (const Finding& finding : findings) {
    fmt::print("{:<8} {:<17} {}\n", NameOf(finding.level), finding.check, finding.found);
    if (!finding.advice.empty()) fmt::print("{:<26} -> {}\n", "", finding.advice);
  }
}

void PrintJson(const Findings& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"check", finding.check},
                    {"level", NameOf(finding.level)},
                    {"found", finding.found},
                    {"advice", finding.advice}});
  }
  PrintDocument({{"schema", 1}, {"findings", std::move(list)}});
}

absl::Status Examine(const DoctorOptions& options) {
  const Findings findings = CheckAll(options);
  options.json ? PrintJson(findings) : Print(findings);
  const auto problems = std::count_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.level == Level::kProblem;
  });
  if (problems == 0) return absl::OkStatus();
  return absl::InternalError(
      fmt::format("{} of {} checks found a problem", problems, findings.size()));
}

}  // namespace

void AddDoctor(CLI::App& app, Action& action) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App& doctor = *app.add_subcommand(
      "doctor", "Examines this machine, the database and the farm, and says what to do");
  CLI::Option* db = doctor.add_option("--db", options->database, "The tuning database");
  doctor
      .add_option("--server", options->server,
                  "A running honed: unix:PATH, a join string, or @FILE with one")
      ->excludes(db);
  doctor.add_flag("--json", options->json, "Prints one JSON document");
  doctor.callback([options, &action] { action = [options] { return Examine(*options); }; });
}

}  // namespace hone::cli
