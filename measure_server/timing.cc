#include "measure_server/timing.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/median.h"

namespace hone::measure {
namespace {

constexpr size_t kBeforeStop = 3;

size_t Wanted(const Plan& plan) { return std::max(plan.min_chunks, 1u); }
size_t Limit(const Plan& plan) { return std::max<size_t>(plan.max_chunks, Wanted(plan)); }

// Runs until the warm-up time is used, in growing chunks; returns ns a run of the last.
double WarmUp(TimedWork& work, const Plan& plan, RoundLog* log) {
  double run_ns = 0;
  for (int64_t runs = 1;; runs *= 2) {
    const Chunk chunk = work.RunChunk(runs);
    run_ns = std::max(1.0, chunk.wall_ns / static_cast<double>(runs));
    log->warmup_runs += runs;
    log->warmup_ns += chunk.wall_ns;
    if (log->warmup_ns + chunk.wall_ns >= static_cast<double>(plan.warmup_ns) ||
        runs >= (1 << 20)) {
      break;
    }
  }
  return run_ns;
}

// What has been seen of a round so far, and whether that is enough.
class Progress {
 public:
  explicit Progress(const Plan& plan) : plan_(plan) {}

  void Add(const RoundLog::Chunk& chunk, int64_t runs) {
    tried_ += 1;
    if (chunk.is_clean == 0) return;
    clean_ns_.push_back(chunk.wall_ns / static_cast<double>(runs));
    is_beaten_ = plan_.stop_above_ns > 0 && clean_ns_.size() >= kBeforeStop &&
                 Median(clean_ns_) > plan_.stop_above_ns;
  }
  bool is_beaten() const { return is_beaten_; }
  bool is_over() const {
    return is_beaten_ || clean_ns_.size() >= Wanted(plan_) || tried_ >= Limit(plan_);
  }

 private:
  const Plan& plan_;
  size_t tried_ = 0;
  std::vector<double> clean_ns_;
  bool is_beaten_ = false;
};

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

bool IsTime(double ns) { return std::isfinite(ns) && ns > 0; }

RoundLog RunRound(TimedWork& work, const Plan& plan) {
  RoundLog log;
  const double run_ns = WarmUp(work, plan, &log);
  log.runs = static_cast<int64_t>(
      std::clamp(std::floor(static_cast<double>(plan.chunk_ns) / run_ns), 1.0, 1e7));
  Progress progress(plan);
  while (!progress.is_over()) {
    const double calibrator_ns = work.Calibrate();
    const Chunk chunk = work.RunChunk(log.runs);
    log.chunks.push_back({chunk.wall_ns, calibrator_ns, chunk.excess, chunk.is_clean ? 1u : 0u});
    progress.Add(log.chunks.back(), log.runs);
  }
  return log;
}

bool IsWhole(const RoundLog& log, const Plan& plan) {
  Progress progress(plan);
  for (const RoundLog::Chunk& chunk : log.chunks) {
    if (progress.is_over()) return false;
    progress.Add(chunk, log.runs);
  }
  return progress.is_over();
}

Timing TimingOf(const RoundLog& log, const Plan& plan) {
  Timing timing;
  Progress progress(plan);
  std::vector<Sample> disturbed;
  for (const RoundLog::Chunk& chunk : log.chunks) {
    progress.Add(chunk, log.runs);
    const Sample sample{chunk.wall_ns / static_cast<double>(log.runs), chunk.calibrator_ns,
                        chunk.excess};
    if (chunk.is_clean != 0) {
      Keep(sample, &timing);
      timing.clean_chunks += 1;
    } else {
      timing.dirty_chunks += 1;
      disturbed.push_back(sample);
    }
  }
  if (!progress.is_beaten()) FillUp(std::move(disturbed), Wanted(plan), &timing);
  return timing;
}

}  // namespace hone::measure
