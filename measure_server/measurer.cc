#include "measure_server/measurer.h"

#include <spdlog/spdlog.h>

namespace hone::measure {

namespace v1 = hone::v1;

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

v1::MeasureResult FailedResult(const v1::Assignment& assignment, const absl::Status& status) {
  spdlog::error("trial {}: {}", assignment.trial(), std::string(status.message()));
  const v1::MeasureOutcome outcome = absl::IsInvalidArgument(status)
                                         ? v1::MEASURE_OUTCOME_NO_REFERENCE
                                         : v1::MEASURE_OUTCOME_DEVICE_LOST;
  return FailedResult(assignment, outcome, std::string(status.message()));
}

}  // namespace hone::measure
