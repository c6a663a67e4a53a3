#include "measure_server/timing.h"

#include <algorithm>
#include <cmath>
#include <utility>

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

struct Sample {
  double run_ns;
  double calibrator_ns;
  double excess;
};

void Keep(const Sample& sample, Timing* timing) {
  timing->samples_ns.push_back(sample.run_ns);
  timing->calibrator_ns.push_back(sample.calibrator_ns);
}

void FillUp(std::vector<Sample> disturbed, size_t wanted, Timing* timing) {
  std::stable_sort(disturbed.begin(), disturbed.end(),
                   [](const Sample& a, const Sample& b) { return a.excess < b.excess; });
  for (const Sample& sample : disturbed) {
    if (timing->samples_ns.size() >= wanted) return;
    Keep(sample, timing);
    timing->is_noisy = true;
  }
}

}  // namespace

Timing Time(TimedWork& work, const Plan& plan) {
  constexpr uint32_t kBeforeStop = 3;
  Timing timing;
  const double run_ns = WarmUp(work, plan);
  const auto runs = static_cast<int64_t>(
      std::clamp(std::floor(static_cast<double>(plan.chunk_ns) / run_ns), 1.0, 1e7));
  const uint32_t wanted = std::max(plan.min_chunks, 1u);
  const uint32_t limit = std::max(plan.max_chunks, wanted);
  std::vector<Sample> disturbed;
  for (uint32_t tried = 0; timing.clean_chunks < wanted && tried < limit; ++tried) {
    const double calibrator_ns = work.Calibrate();
    const Chunk chunk = work.RunChunk(runs);
    const Sample sample{chunk.wall_ns / static_cast<double>(runs), calibrator_ns, chunk.excess};
    if (!chunk.is_clean) {
      timing.dirty_chunks += 1;
      disturbed.push_back(sample);
      continue;
    }
    Keep(sample, &timing);
    timing.clean_chunks += 1;
    if (plan.stop_above_ns > 0 && timing.clean_chunks >= kBeforeStop &&
        Median(timing.samples_ns) > plan.stop_above_ns) {
      return timing;
    }
  }
  FillUp(std::move(disturbed), wanted, &timing);
  return timing;
}

}  // namespace hone::measure
