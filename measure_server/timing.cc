#include "measure_server/timing.h"

#include <algorithm>
#include <cmath>

#include "support/median.h"

namespace hone::measure {
namespace {

// Runs until the warm-up time is used, in growing chunks; returns ns a run of the last.
double WarmUp(TimedWork& work, const Plan& plan) {
  double spent_ns = 0;
  double run_ns = 0;
  for (int64_t runs = 1;; runs *= 2) {
    const Chunk chunk = work.RunChunk(runs);
    run_ns = std::max(1.0, chunk.wall_ns / static_cast<double>(runs));
    spent_ns += chunk.wall_ns;
    if (spent_ns + chunk.wall_ns >= static_cast<double>(plan.warmup_ns) || runs >= (1 << 20)) break;
  }
  return run_ns;
}

}  // namespace

Timing Time(TimedWork& work, const Plan& plan) {
  constexpr size_t kBeforeStop = 3;
  Timing timing;
  const double run_ns = WarmUp(work, plan);
  const auto runs = static_cast<int64_t>(
      std::clamp(std::floor(static_cast<double>(plan.chunk_ns) / run_ns), 1.0, 1e7));
  const uint32_t wanted = std::max(plan.min_chunks, 1u);
  const uint32_t limit = std::max(plan.max_chunks, wanted);
  for (uint32_t tried = 0; timing.samples_ns.size() < wanted; ++tried) {
    if (tried >= limit && (!timing.samples_ns.empty() || tried >= 2 * limit)) break;
    const double calibrator_ns = work.Calibrate();
    const Chunk chunk = work.RunChunk(runs);
    if (!chunk.is_clean) {
      timing.dirty_chunks += 1;
      continue;
    }
    timing.samples_ns.push_back(chunk.wall_ns / static_cast<double>(runs));
    timing.calibrator_ns.push_back(calibrator_ns);
    if (plan.stop_above_ns > 0 && timing.samples_ns.size() >= kBeforeStop &&
        Median(timing.samples_ns) > plan.stop_above_ns) {
      break;
    }
  }
  return timing;
}

}  // namespace hone::measure
