#include "tuner/jobs/round_limit.h"

#include <algorithm>

namespace hone::tuner {
namespace {

// Beside others a run takes longer than in its search: caches and the clock's frequency are as
// those left them, and the machine may have become busy.
constexpr double kMargin = 4;
// A worker with too little memory for all candidates at once starts each anew for every round. That
// is less than a trial, which is checked and timed, too.
constexpr int64_t kStartShare = 10;

}  // namespace

double SlowestRunNs(const std::vector<PlannedTrial>& candidates, const TaskHistory& history) {
  double slowest_ns = 0;
  for (const PlannedTrial& candidate : candidates) {
    double run_ns = 0;
    for (const auto& [id, entry] : history.search()) {
      if (!entry.record || entry.trial.nest_digest != candidate.nest_digest) continue;
      run_ns = std::max(run_ns, entry.record->median_ns);  // 0: it failed
    }
    if (!(run_ns > 0)) return 0;
    slowest_ns = std::max(slowest_ns, run_ns);
  }
  return slowest_ns;
}

int64_t RoundsLimitNs(const hone::v1::TimingPlan& plan, int64_t rounds, int64_t trial_limit_ns,
                      double run_ns) {
  const int64_t most_ns = rounds * trial_limit_ns;
  if (!(run_ns > 0)) return most_ns;
  const double warmup_ns = std::max(static_cast<double>(plan.warmup_ns()), run_ns);
  const double chunk_ns = std::max(static_cast<double>(plan.chunk_ns()), run_ns);
  const double round_ns = warmup_ns + run_ns + plan.max_chunks() * chunk_ns;  // one run is checked
  const double limit_ns =
      static_cast<double>(trial_limit_ns) +
      static_cast<double>(rounds) *
          (static_cast<double>(trial_limit_ns / kStartShare) + kMargin * round_ns);
  return limit_ns < static_cast<double>(most_ns) ? static_cast<int64_t>(limit_ns) : most_ns;
}

}  // namespace hone::tuner
