#include "measure_server/measurer.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>

#include "support/clock.h"

namespace hone::measure {

namespace v1 = hone::v1;

namespace {

Plan ToPlan(const v1::TimingPlan& timing) {
  Plan plan;
  if (timing.chunk_ns() > 0) plan.chunk_ns = timing.chunk_ns();
  if (timing.min_chunks() > 0) plan.min_chunks = std::min(timing.min_chunks(), kMaxSamples);
  plan.max_chunks = std::max(timing.max_chunks(), plan.min_chunks);
  plan.warmup_ns = timing.warmup_ns();
  plan.stop_above_ns = timing.stop_above_ns();
  plan.cold_constants = timing.cold_constants() ? 1 : 0;
  return plan;
}

RunRequest ToRequest(const v1::Assignment& assignment) {
  RunRequest request;
  request.candidate_count = static_cast<uint32_t>(assignment.candidates_size());
  request.rounds = assignment.rounds();
  request.threads = std::max(assignment.threads(), 1u);
  request.seed = assignment.seed();
  request.plan = ToPlan(assignment.timing());
  request.run_limit_ns = assignment.run_limit_ns();
  request.memory_limit_bytes = assignment.memory_limit_bytes();
  return request;
}

// What a child wrote is bounded, not believed.
v1::CandidateResult ToResult(const RunReport& report) {
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
  }
  result.set_error_ratio(report.error_ratio);
  result.set_dirty_chunks(report.dirty_chunks);
  result.set_noisy(report.is_noisy != 0);
  result.set_regime(report.cold_constants != 0 ? "cold_constants" : "warm");
  result.set_sandbox_ns(report.sandbox_ns);
  result.set_check_ns(report.check_ns);
  result.set_timing_ns(report.timing_ns);
  return result;
}

}  // namespace

v1::MeasureResult FailedResult(const v1::Assignment& assignment, v1::MeasureOutcome outcome,
                               const std::string& message) {
  v1::MeasureResult result;
  result.set_fence(assignment.fence());
  result.set_trial(assignment.trial());
  for (int i = 0; i < assignment.candidates_size(); ++i) {
    v1::CandidateResult& candidate = *result.add_candidates();
    candidate.set_outcome(outcome);
    candidate.set_message(message);
  }
  return result;
}

v1::MeasureResult CpuMeasurer::Measure(const Job& job) {
  const v1::Assignment& assignment = job.assignment;
  v1::MeasureResult result;
  int reference_fd = -1;
  absl::Status status = absl::OkStatus();
  v1::MeasureOutcome outcome = v1::MEASURE_OUTCOME_DEVICE_LOST;
  if (assignment.threads() > device_.threads()) {
    status = absl::FailedPreconditionError(
        fmt::format("expected an assignment of at most {} threads, found {}", device_.threads(),
                    assignment.threads()));
  } else if (job.reference != nullptr) {
    const auto fd = references_.Get(assignment.workload_digest(), *job.reference, assignment.seed(),
                                    assignment.memory_limit_bytes());
    status = fd.status();
    if (fd.ok()) reference_fd = *fd;
    // Another worker would fare no better with this reference.
    if (absl::IsInvalidArgument(status)) outcome = v1::MEASURE_OUTCOME_NO_REFERENCE;
  }
  if (status.ok()) {
    const absl::StatusOr<std::vector<RunReport>> reports = Run(job, reference_fd);
    status = reports.status();
    for (size_t i = 0; reports.ok() && i < reports->size(); ++i) {
      *result.add_candidates() = ToResult((*reports)[i]);
      result.mutable_candidates(static_cast<int>(i))->set_transfer_ns(job.transfer_ns);
    }
  }
  if (!status.ok()) {
    is_lost_ = is_lost_ || absl::IsUnavailable(status);
    spdlog::error("trial {}: {}", assignment.trial(), std::string(status.message()));
    result = FailedResult(assignment, outcome, std::string(status.message()));
  }
  result.set_fence(assignment.fence());
  result.set_trial(assignment.trial());
  result.set_device_fingerprint(device_.fingerprint());
  return result;
}

absl::StatusOr<std::vector<RunReport>> CpuMeasurer::Run(const Job& job, int reference_fd) {
  RunRequest request = ToRequest(job.assignment);
  request.has_reference = reference_fd >= 0 ? 1 : 0;
  std::vector<int> artifact_fds;
  for (const auto& candidate : job.candidates) artifact_fds.push_back(candidate->fd());
  return runner_->Run(request, reference_fd, artifact_fds);
}

}  // namespace hone::measure
