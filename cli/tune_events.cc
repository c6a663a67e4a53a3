#include "cli/tune_events.h"

#include <cstdio>

#include "cli/job_progress.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace hone::cli {
namespace {

constexpr int64_t kIntervalNs = 100'000'000;

void PrintLine(const nlohmann::json& event) {
  fmt::print("{}\n", event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  std::fflush(stdout);
}

}  // namespace

void TuneEvents::Progress(const std::string& phase, const v1::JobInfo& job) {
  const int64_t now_ns = clock_.NowNs();
  // Searches and finals take turns.
  if (!seen_.insert(phase).second && now_ns - last_ns_ < kIntervalNs) return;
  last_ns_ = now_ns;
  const JobTotals totals = TotalsOf(job);
  const JobTimes times = TimesOf(job);
  PrintLine({{"event", "progress"},
             {"phase", phase},
             {"job", job.id()},
             {"trials", totals.trials},
             {"done", totals.done},
             {"budget", totals.budget},
             {"failures", totals.failures},
             {"default_us", times.default_ns * 1e-3},
             {"best_us", times.best_ns * 1e-3},
             {"waiting", WaitsFor(job)}});
}

void TuneEvents::Phase(const std::string& phase) {
  PrintLine({{"event", "phase"}, {"phase", phase}});
}

void TuneEvents::Result(nlohmann::json document) {
  document["event"] = "result";
  PrintLine(document);
}

}  // namespace hone::cli
