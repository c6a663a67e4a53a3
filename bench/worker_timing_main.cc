// How steadily hone-measure times, with nothing beside it. Prints one JSON document.
//
//   worker_timing hostile [--measurements 3]   a fixed kernel before and after each hostile one
//   worker_timing repeat [--measurements 30]   one kernel each that computes, and that goes through
//                                              the second-level cache and the memory, in turns
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/timed_worker.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "support/clock.h"
#include "support/median.h"
#include "tests/measure_server/hostile_kernels.h"

namespace hone::measure {
namespace {

using nlohmann::json;

constexpr double kSecondNs = 1e9;

double Percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

// The kernel's time in times of the calibrator, the median of so many measurements; 0: it failed.
double TimeOf(TimedWorker& worker, const TimedKernelSource& kernel, int measurements) {
  std::vector<double> normalised;
  for (int i = 0; i < measurements; ++i) {
    const Timed timed = worker.Measure(kernel);
    if (timed.outcome != "OK") {
      std::fprintf(stderr, "%s: %s\n", kernel.name.c_str(), timed.message.c_str());
      return 0;
    }
    normalised.push_back(timed.normalised);
  }
  return Median(std::move(normalised));
}

int Hostile(int measurements) {
  TimedWorker worker;
  // In registers alone: what waits for its own stores takes one of two times.
  const TimedKernelSource fixed = BoundKernels(worker.target()).front();
  TimeOf(worker, fixed, measurements);  // warms up
  json rows = json::array();
  for (const HostileKernel& hostile : HostileKernels()) {
    TimedKernelSource kernel = {hostile.name, hostile.source, true};
    kernel.flags = hostile.flags;
    if (hostile.outcome == RunOutcome::kRunTimeout) kernel.run_limit_ns = 300'000'000;
    const double before = TimeOf(worker, fixed, measurements);
    const int64_t start_ns = Clock::Real().NowNs();
    const Timed ended = worker.Measure(kernel);
    const double took_s = static_cast<double>(Clock::Real().NowNs() - start_ns) / kSecondNs;
    const double after = TimeOf(worker, fixed, measurements);
    rows.push_back({{"name", hostile.name},
                    {"outcome", ended.outcome},
                    {"message", ended.message},
                    {"took_s", took_s},
                    {"limit_s", static_cast<double>(kernel.run_limit_ns) / kSecondNs},
                    {"before", before},
                    {"after", after},
                    {"ratio", before > 0 ? after / before : 0.0}});
    std::fprintf(stderr, "%-32s %-14s %6.2f s, fixed kernel after to before %.4f\n",
                 hostile.name.c_str(), ended.outcome.c_str(), took_s,
                 before > 0 ? after / before : 0.0);
  }
  fmt::print("{}\n", json({{"measurements", measurements}, {"rows", rows}}).dump());
  return 0;
}

int Repeat(int measurements) {
  TimedWorker worker;
  const std::vector<TimedKernelSource> kernels = BoundKernels(worker.target());
  std::vector<std::vector<Timed>> all(kernels.size());
  for (int i = 0; i < measurements; ++i) {
    for (size_t k = 0; k < kernels.size(); ++k) {
      all[k].push_back(worker.Measure(kernels[k]));
      if (all[k].back().outcome == "OK") continue;
      std::fprintf(stderr, "%s: %s\n", kernels[k].name.c_str(), all[k].back().message.c_str());
      return 1;
    }
  }
  json rows = json::array();
  for (size_t k = 0; k < kernels.size(); ++k) {
    std::vector<double> normalised;
    std::vector<double> raw_ns;
    int noisy = 0;
    for (const Timed& timed : all[k]) {
      normalised.push_back(timed.normalised);
      raw_ns.push_back(timed.median_ns);
      noisy += timed.is_noisy ? 1 : 0;
    }
    const double spread = Percentile(normalised, 0.9) / Percentile(normalised, 0.1);
    rows.push_back({{"name", kernels[k].name},
                    {"p90_to_p10", spread},
                    {"raw_p90_to_p10", Percentile(raw_ns, 0.9) / Percentile(raw_ns, 0.1)},
                    {"median_us", Percentile(raw_ns, 0.5) * 1e-3},
                    {"noisy", noisy},
                    {"normalised", normalised}});
    std::fprintf(stderr, "%-8s p90/p10 %.4f of %d measurements, %d noisy\n",
                 kernels[k].name.c_str(), spread, measurements, noisy);
  }
  fmt::print("{}\n", json({{"measurements", measurements}, {"rows", rows}}).dump());
  return 0;
}

int Main(int argc, char** argv) {
  CLI::App app("How steadily hone-measure times.", "worker_timing");
  app.require_subcommand(1);
  int code = 1;
  int of_hostile = 3;
  CLI::App& hostile = *app.add_subcommand("hostile", "A fixed kernel beside hostile ones");
  hostile.add_option("--measurements", of_hostile)->check(CLI::PositiveNumber);
  hostile.callback([&] { code = Hostile(of_hostile); });
  int of_repeat = 30;
  CLI::App& repeat = *app.add_subcommand("repeat", "The same kernels again and again");
  repeat.add_option("--measurements", of_repeat)->check(CLI::PositiveNumber);
  repeat.callback([&] { code = Repeat(of_repeat); });
  CLI11_PARSE(app, argc, argv);
  return code;
}

}  // namespace
}  // namespace hone::measure

int main(int argc, char** argv) { return hone::measure::Main(argc, argv); }
