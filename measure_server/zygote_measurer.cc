#include "measure_server/zygote_measurer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

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
  request.lease = assignment.fence();
  request.candidate_count = static_cast<uint32_t>(assignment.candidates_size());
  request.rounds = std::min(assignment.rounds(), kMaxSamples);
  request.threads = std::max(assignment.threads(), 1u);
  request.seed = assignment.seed();
  request.plan = ToPlan(assignment.timing());
  request.run_limit_ns = assignment.run_limit_ns();
  request.memory_limit_bytes = assignment.memory_limit_bytes();
  return request;
}

std::vector<int> ArtifactFds(const Job& job) {
  std::vector<int> fds;
  for (const auto& candidate : job.candidates) fds.push_back(candidate->fd());
  return fds;
}

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

}  // namespace

v1::MeasureResult ZygoteMeasurer::Measure(const Job& job) {
  absl::StatusOr<v1::MeasureResult> result = Run(job);
  if (result.ok()) return *std::move(result);
  if (absl::IsUnavailable(result.status())) is_lost_ = true;
  // Whatever it is, it is no reference that does not run.
  return FailedResult(job.assignment, absl::IsInvalidArgument(result.status())
                                          ? absl::InternalError(result.status().message())
                                          : result.status());
}

void ZygoteMeasurer::LoadAhead(const Job& job) {
  RunRequest request = ToRequest(job.assignment);
  request.has_reference = job.reference != nullptr ? 1 : 0;
  runner_->LoadAhead(request, ArtifactFds(job));
}

absl::StatusOr<v1::MeasureResult> ZygoteMeasurer::Run(const Job& job) {
  RunRequest request = ToRequest(job.assignment);
  request.has_reference = job.reference_fd >= 0 ? 1 : 0;
  const std::vector<int> artifact_fds = ArtifactFds(job);
  HONE_ASSIGN_OR_RETURN(const std::vector<RunReport> reports,
                        runner_->Run(request, job.reference_fd, artifact_fds));
  v1::MeasureResult result;
  for (const RunReport& report : reports) {
    v1::CandidateResult& candidate = *result.add_candidates();
    candidate = ToResult(report, job.assignment.timing());
    candidate.set_transfer_ns(job.transfer_ns);
  }
  Identify(job.assignment, &result);
  return result;
}

}  // namespace hone::measure
