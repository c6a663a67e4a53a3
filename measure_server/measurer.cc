#include "measure_server/measurer.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "support/median.h"
#include "support/status.h"

namespace hone::measure {

namespace v1 = hone::v1;

namespace {

Plan ToPlan(const v1::TimingPlan& timing) {
  Plan plan;
  if (timing.chunk_ns() > 0) plan.chunk_ns = timing.chunk_ns();
  if (timing.min_chunks() > 0) plan.min_chunks = std::min(timing.min_chunks(), kMaxSamples);
  plan.max_chunks = std::clamp(timing.max_chunks(), plan.min_chunks, kMaxChunks);
  plan.warmup_ns = timing.warmup_ns();
  plan.stop_above_ns = timing.stop_above_ns();
  plan.rotation_bytes = timing.rotation_bytes();
  return plan;
}

RunRequest ToRequest(const v1::Assignment& assignment) {
  RunRequest request;
  request.candidate_count = static_cast<uint32_t>(assignment.candidates_size());
  request.rounds = std::min(assignment.rounds(), kMaxSamples);
  request.threads = std::max(assignment.threads(), 1u);
  request.seed = assignment.seed();
  request.plan = ToPlan(assignment.timing());
  request.run_limit_ns = assignment.run_limit_ns();
  request.memory_limit_bytes = assignment.memory_limit_bytes();
  return request;
}

bool IsTime(double ns) { return std::isfinite(ns) && ns > 0; }

// What a child wrote is bounded, not believed.
v1::CandidateResult ToResult(const RunReport& report, const v1::TimingPlan& timing) {
  v1::CandidateResult result;
  const auto outcome = static_cast<int>(report.outcome);
  result.set_outcome(v1::MeasureOutcome_IsValid(outcome) && outcome != 0
                         ? static_cast<v1::MeasureOutcome>(outcome)
                         : v1::MEASURE_OUTCOME_DEVICE_LOST);
  result.set_message(std::string(report.message, strnlen(report.message, sizeof(report.message))));
  const uint32_t count = std::min(report.sample_count, kMaxSamples);
  if (result.outcome() == v1::MEASURE_OUTCOME_OK) {
    result.mutable_samples_ns()->Add(report.samples_ns, report.samples_ns + count);
    result.mutable_calibrator_ns()->Add(report.calibrator_ns, report.calibrator_ns + count);
    if (count == 0 || !std::all_of(report.samples_ns, report.samples_ns + count, IsTime)) {
      result.Clear();
      result.set_outcome(v1::MEASURE_OUTCOME_CRASH);
      result.set_message("its process spoilt its own report");
    }
  }
  result.set_error_ratio(report.error_ratio);
  result.set_dirty_chunks(report.dirty_chunks);
  result.set_noisy(report.is_noisy != 0);
  result.set_regime(report.constants_rotate != 0 ? timing.regime() : "warm");
  result.set_sandbox_ns(report.sandbox_ns);
  result.set_check_ns(report.check_ns);
  result.set_timing_ns(report.timing_ns);
  return result;
}

// Times of an anchor compare where these are equal.
std::string AnchorKey(const v1::Assignment& assignment) {
  return fmt::format("{} {} {} {}", assignment.workload_digest(),
                     assignment.anchor().artifact_digest(), assignment.threads(),
                     assignment.timing().rotation_bytes());
}

// 0: it failed.
double TimeOf(const v1::CandidateResult& result) {
  return Median({result.samples_ns().begin(), result.samples_ns().end()});
}

// Of the assignment, whatever came of measuring it.
void Identify(const v1::Assignment& assignment, v1::MeasureResult* result) {
  result->set_fence(assignment.fence());
  result->set_trial(assignment.trial());
  result->set_device(assignment.device());
  result->set_attempt(assignment.attempt());
  for (int i = 0; i < result->candidates_size(); ++i) {
    v1::CandidateResult& candidate = *result->mutable_candidates(i);
    candidate.set_artifact_digest(assignment.candidates(i).artifact_digest());
    candidate.set_toolchain(assignment.candidates(i).toolchain());
  }
}

// Whose fault it is that nothing could be measured. Another worker would fare no better with a
// reference that does not run.
v1::MeasureOutcome OutcomeOf(const absl::Status& status) {
  return absl::IsInvalidArgument(status) ? v1::MEASURE_OUTCOME_NO_REFERENCE
                                         : v1::MEASURE_OUTCOME_DEVICE_LOST;
}

}  // namespace

v1::MeasureResult FailedResult(const v1::Assignment& assignment, v1::MeasureOutcome outcome,
                               const std::string& message) {
  v1::MeasureResult result;
  for (int i = 0; i < assignment.candidates_size(); ++i) {
    v1::CandidateResult& candidate = *result.add_candidates();
    candidate.set_outcome(outcome);
    candidate.set_message(message);
  }
  Identify(assignment, &result);
  return result;
}

v1::MeasureResult CpuMeasurer::Measure(const Job& job) {
  absl::StatusOr<v1::MeasureResult> result = Run(job);
  if (!result.ok()) {
    const absl::Status& status = result.status();
    is_lost_ = is_lost_ || absl::IsUnavailable(status);
    spdlog::error("trial {}: {}", job.assignment.trial(), std::string(status.message()));
    result = FailedResult(job.assignment, OutcomeOf(status), std::string(status.message()));
  }
  result->set_device_fingerprint(device_.fingerprint());
  return *std::move(result);
}

absl::StatusOr<v1::MeasureResult> CpuMeasurer::Run(const Job& job) {
  const v1::Assignment& assignment = job.assignment;
  if (assignment.threads() > device_.threads()) {
    return absl::FailedPreconditionError(
        fmt::format("expected an assignment of at most {} threads, found {}", device_.threads(),
                    assignment.threads()));
  }
  RunRequest request = ToRequest(assignment);
  HONE_ASSIGN_OR_RETURN(const int reference_fd, Reference(job));
  request.has_reference = reference_fd >= 0 ? 1 : 0;
  std::vector<int> artifact_fds;
  for (const auto& candidate : job.candidates) artifact_fds.push_back(candidate->fd());
  const std::string anchor_key = AnchorKey(assignment);
  const int64_t start_ns = clock_->NowNs();
  const bool has_anchor = job.anchor != nullptr && assignment.rounds() == 0;
  const bool times_anchor =
      has_anchor && anchors_.IsDue(anchor_key, start_ns) && artifact_fds.size() < kMaxCandidates;
  if (times_anchor) artifact_fds.push_back(job.anchor->fd());
  request.candidate_count = static_cast<uint32_t>(artifact_fds.size());
  HONE_ASSIGN_OR_RETURN(const std::vector<RunReport> reports,
                        runner_->Run(request, reference_fd, artifact_fds));
  v1::MeasureResult result;
  for (size_t i = 0; i < job.candidates.size(); ++i) {
    *result.add_candidates() = ToResult(reports[i], assignment.timing());
    result.mutable_candidates(static_cast<int>(i))->set_transfer_ns(job.transfer_ns);
  }
  if (times_anchor) {
    const v1::CandidateResult anchor = ToResult(reports.back(), assignment.timing());
    const int64_t end_ns = clock_->NowNs();
    // Of a run that was cancelled nothing is known.
    if (anchor.outcome() != v1::MEASURE_OUTCOME_DEVICE_LOST) {
      anchors_.Note(anchor_key, TimeOf(anchor), end_ns, end_ns - start_ns);
    }
  }
  if (has_anchor) result.set_anchor_ns(anchors_.Newest(anchor_key));
  Identify(assignment, &result);
  return result;
}

absl::StatusOr<int> CpuMeasurer::Reference(const Job& job) {
  if (job.reference == nullptr) return -1;
  return references_.Get(job.assignment.workload_digest(), *job.reference, job.assignment.seed(),
                         job.assignment.memory_limit_bytes());
}

}  // namespace hone::measure
