#include "cli/compile_report.h"

#include <algorithm>
#include <map>

#include "cli/json_document.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace hone::cli {
namespace {

std::map<std::string, int> CountTiers(const driver::CompileReport& report) {
  std::map<std::string, int> counts;
  for (const driver::KernelReport& kernel : report.kernels) ++counts[kernel.tier];
  return counts;
}

std::string SpecialisationText(const driver::SpecialisationReport& specialisation) {
  std::vector<std::string> inputs;
  for (size_t i = 0; i < specialisation.names.size(); ++i) {
    inputs.push_back(fmt::format("{}={}", specialisation.names[i],
                                 fmt::join(specialisation.inputs[i].shape, ",")));
  }
  return fmt::format("{}", fmt::join(inputs, " "));
}

nlohmann::json SpecialisationsJson(const driver::CompileReport& report) {
  nlohmann::json list = nlohmann::json::array();
  for (const driver::SpecialisationReport& specialisation : report.specialisations) {
    list.push_back({{"inputs", SpecialisationText(specialisation)},
                    {"calls", specialisation.calls},
                    {"arena_bytes", specialisation.arena_bytes},
                    {"peak_live_bytes", specialisation.peak_live_bytes}});
  }
  return list;
}

double Mib(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

std::string ReportJson(const driver::CompileReport& report) {
  nlohmann::json kernels = nlohmann::json::array();
  for (const driver::KernelReport& kernel : report.kernels) {
    kernels.push_back({{"name", kernel.name},
                       {"workload", kernel.workload},
                       {"workload_digest", kernel.workload_digest},
                       {"signature", kernel.signature},
                       {"tier", kernel.tier},
                       {"config", kernel.config},
                       {"flops", kernel.flops},
                       {"calls", kernel.calls},
                       {"specialisations", kernel.specialisations}});
  }
  nlohmann::json seconds = nlohmann::json::object();
  for (const auto& [phase, value] : report.seconds) seconds[phase] = value;
  const nlohmann::json document = {{"schema", 1},
                                   {"target", report.target},
                                   {"kernels", kernels},
                                   {"counts", CountTiers(report)},
                                   {"specialisations", SpecialisationsJson(report)},
                                   {"arena_bytes", report.arena_bytes},
                                   {"peak_live_bytes", report.peak_live_bytes},
                                   {"parameters_bytes", report.parameters_bytes},
                                   {"seconds", seconds}};
  return DocumentText(document);
}

void PrintReport(const driver::CompileReport& report, bool json) {
  if (json) {
    fmt::print("{}\n", ReportJson(report));
    return;
  }
  fmt::print("{:<52} {:>5} {:>10}  {:<11} {}\n", "kernel", "calls", "MFLOP", "tier", "config");
  for (const driver::KernelReport& kernel : report.kernels) {
    fmt::print("{:<52} {:>5} {:>10.2f}  {:<11} {}\n", kernel.name, kernel.calls,
               kernel.flops * 1e-6, kernel.tier, kernel.config);
  }
  std::string counts;
  for (const auto& [tier, count] : CountTiers(report)) {
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, tier);
  }
  if (report.specialisations.size() > 1) {
    for (const driver::SpecialisationReport& specialisation : report.specialisations) {
      fmt::print("specialisation {}: {} calls, {:.1f} MiB for activations\n",
                 SpecialisationText(specialisation), specialisation.calls,
                 Mib(specialisation.arena_bytes));
    }
  }
  fmt::print(
      "{} kernels: {}; {:.1f} MiB of parameters, {:.1f} MiB for activations (at most {:.1f} MiB of "
      "them alive at once)\n",
      report.kernels.size(), counts, Mib(report.parameters_bytes), Mib(report.arena_bytes),
      Mib(report.peak_live_bytes));
  const auto missed = std::ranges::count(
      report.kernels, false, [](const auto& kernel) { return driver::IsTuned(kernel); });
  if (missed > 0) {
    fmt::print(
        "{} kernels have no tuned config: hone tune MODEL tunes them, hone tune --misses what all "
        "compiles missed\n",
        missed);
  }
}

}  // namespace hone::cli
