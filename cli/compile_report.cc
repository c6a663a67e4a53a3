#include "cli/compile_report.h"

#include <map>

#include "cli/json_document.h"
#include "fmt/format.h"

namespace hone::cli {
namespace {

std::map<std::string, int> CountTiers(const driver::CompileReport& report) {
  std::map<std::string, int> counts;
  for (const driver::KernelReport& kernel : report.kernels) ++counts[kernel.tier];
  return counts;
}

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
                       {"calls", kernel.calls}});
  }
  nlohmann::json seconds = nlohmann::json::object();
  for (const auto& [phase, value] : report.seconds) seconds[phase] = value;
  const nlohmann::json document = {{"schema", 1},
                                   {"target", report.target},
                                   {"kernels", kernels},
                                   {"counts", CountTiers(report)},
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
  const auto mib = [](uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  fmt::print(
      "{} kernels: {}; {:.1f} MiB of parameters, {:.1f} MiB for activations (at most {:.1f} MiB of "
      "them alive at once)\n",
      report.kernels.size(), counts, mib(report.parameters_bytes), mib(report.arena_bytes),
      mib(report.peak_live_bytes));
}

}  // namespace hone::cli
