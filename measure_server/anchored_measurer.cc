#include "measure_server/anchored_measurer.h"

#include <fmt/format.h>

#include "measure_server/run_protocol.h"
#include "support/median.h"

namespace hone::measure {

namespace v1 = hone::v1;

namespace {

// Times of an anchor compare where these are equal.
std::string AnchorKey(const v1::Assignment& assignment) {
  return fmt::format("{} {} {} {}", assignment.workload_digest(),
                     assignment.anchor().artifact_digest(), assignment.threads(),
                     assignment.timing().rotation_bytes());
}

// 0: it failed.
double TimeOf(const v1::CandidateResult& result) {
  if (result.outcome() != v1::MEASURE_OUTCOME_OK) return 0;
  return Median({result.samples_ns().begin(), result.samples_ns().end()});
}

}  // namespace

v1::MeasureResult AnchoredMeasurer::Measure(const Job& job) {
  if (job.anchor == nullptr || job.assignment.rounds() != 0) return inner().Measure(job);
  const std::string key = AnchorKey(job.assignment);
  const bool is_timed =
      anchors_.IsDue(key, clock_->NowNs()) && job.candidates.size() < kMaxCandidates;
  v1::MeasureResult result = is_timed ? MeasureBoth(job, key) : inner().Measure(job);
  result.set_anchor_ns(anchors_.Newest(key));
  return result;
}

v1::MeasureResult AnchoredMeasurer::MeasureBoth(const Job& job, const std::string& anchor_key) {
  Job both = job;
  both.candidates.push_back(job.anchor);
  *both.assignment.add_candidates() = job.assignment.anchor();
  const int64_t start_ns = clock_->NowNs();
  v1::MeasureResult result = inner().Measure(both);
  const int64_t end_ns = clock_->NowNs();
  const v1::CandidateResult anchor = result.candidates(result.candidates_size() - 1);
  result.mutable_candidates()->RemoveLast();
  // Nothing is known of a run that was cancelled.
  if (anchor.outcome() != v1::MEASURE_OUTCOME_DEVICE_LOST) {
    anchors_.Note(anchor_key, TimeOf(anchor), end_ns, end_ns - start_ns);
  }
  return result;
}

}  // namespace hone::measure
