#include "tuner/farm/assignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

v1::Candidate ToCandidate(const Artifact& artifact) {
  v1::Candidate candidate;
  candidate.set_artifact_digest(artifact.digest);
  candidate.set_artifact_bytes(artifact.bytes == nullptr ? 0 : artifact.bytes->size());
  candidate.set_toolchain(artifact.toolchain);
  return candidate;
}

}  // namespace

int64_t LeaseLimitNs(const MeasureRequest& request, int64_t slack_ns) {
  const int64_t runs = std::max<int64_t>(static_cast<int64_t>(request.candidates.size()), 1) +
                       (request.reference.digest.empty() ? 0 : 1) +
                       (request.anchor.digest.empty() ? 0 : 1);
  return slack_ns + runs * request.run_limit_ns;
}

v1::Assignment ToAssignment(const MeasureRequest& request, const tuning_db::Trial& leased,
                            const std::string& device, int64_t limit_ns) {
  v1::Assignment assignment;
  assignment.set_fence(leased.fence);
  assignment.set_trial(leased.id);
  assignment.set_attempt(static_cast<uint32_t>(leased.attempt));
  assignment.set_device(device);
  for (const Artifact& artifact : request.candidates) {
    *assignment.add_candidates() = ToCandidate(artifact);
  }
  assignment.set_rounds(request.rounds);
  if (!request.reference.digest.empty()) {
    *assignment.mutable_reference() = ToCandidate(request.reference);
  }
  if (!request.anchor.digest.empty()) *assignment.mutable_anchor() = ToCandidate(request.anchor);
  assignment.set_workload_digest(request.workload_digest);
  assignment.set_seed(request.seed);
  assignment.set_threads(request.threads);
  *assignment.mutable_timing() = request.timing;
  assignment.set_run_limit_ns(request.run_limit_ns);
  assignment.set_memory_limit_bytes(request.memory_limit_bytes);
  assignment.set_lease_ns(limit_ns);
  return assignment;
}

tuning_db::Assigned ToAssigned(const MeasureRequest& request) {
  tuning_db::Assigned assigned;
  for (const Artifact& artifact : request.candidates) {
    assigned.candidates.push_back({artifact.digest, artifact.toolchain});
  }
  assigned.regime = request.timing.regime();
  assigned.rounds = request.rounds;
  assigned.reference_digest = request.reference.digest;
  assigned.anchor_digest = request.anchor.digest;
  return assigned;
}

v1::Assignment FromLease(const tuning_db::Trial& leased) {
  v1::Assignment assignment;
  assignment.set_fence(leased.fence);
  assignment.set_trial(leased.id);
  assignment.set_attempt(static_cast<uint32_t>(leased.attempt));
  assignment.set_device(leased.device);
  for (const tuning_db::AssignedCandidate& asked : leased.assigned.candidates) {
    v1::Candidate& candidate = *assignment.add_candidates();
    candidate.set_artifact_digest(asked.artifact_digest);
    candidate.set_toolchain(asked.toolchain);
  }
  assignment.mutable_timing()->set_regime(leased.assigned.regime);
  assignment.set_rounds(static_cast<uint32_t>(leased.assigned.rounds));
  const tuning_db::Assigned& assigned = leased.assigned;
  if (!assigned.reference_digest.empty()) {
    assignment.mutable_reference()->set_artifact_digest(assigned.reference_digest);
  }
  if (!assigned.anchor_digest.empty()) {
    assignment.mutable_anchor()->set_artifact_digest(assigned.anchor_digest);
  }
  assignment.set_lease_ns(leased.limit_ns);
  return assignment;
}

std::string WhyLost(const v1::MeasureResult& result) {
  for (const v1::CandidateResult& candidate : result.candidates()) {
    if (candidate.outcome() != v1::MEASURE_OUTCOME_DEVICE_LOST) continue;
    return candidate.message().empty() ? "no reason given" : candidate.message();
  }
  return "";
}

namespace {

// By how much the clocks of a worker and its daemon may differ over one lease.
constexpr int64_t kClockSlackNs = 100'000'000;
constexpr int kMostSamples = 4096;

template <typename Value>
std::string Differs(std::string_view what, const Value& expected, const Value& found) {
  if (expected == found) return "";
  return fmt::format("expected {} {}, found {}", what, expected, found);
}
std::string Differs(std::string_view what, const std::string& expected, const std::string& found) {
  if (expected == found) return "";
  return fmt::format("expected {} \"{}\", found \"{}\"", what, expected, found);
}

bool IsTime(double ns) { return std::isfinite(ns) && ns > 0; }

// Empty, or what is wrong with times that were measured within `held_ns`. `may_miss`: a round may
// have none, and says so by NaN.
std::string WrongTimes(const v1::CandidateResult& result, bool may_miss, int64_t held_ns) {
  double sum_ns = 0;
  for (const auto* times : {&result.samples_ns(), &result.calibrator_ns()}) {
    for (const double ns : *times) {
      if (may_miss && std::isnan(ns)) continue;
      if (!IsTime(ns)) return fmt::format("expected times above zero, found {} ns", ns);
      sum_ns += ns;
    }
  }
  const int64_t longest_ns = held_ns + kClockSlackNs;
  for (const int64_t phase_ns : {result.sandbox_ns(), result.check_ns(), result.timing_ns()}) {
    if (phase_ns >= 0 && phase_ns <= longest_ns) continue;
    return fmt::format("expected a phase of at most {} ns, found {} ns", longest_ns, phase_ns);
  }
  // Artifacts come before the device begins, which the limit of a lease does not count.
  if (result.transfer_ns() < 0) {
    return fmt::format("expected a transfer of at least 0 ns, found {} ns", result.transfer_ns());
  }
  if (sum_ns <= static_cast<double>(longest_ns)) return "";
  return fmt::format("expected times that add up to at most {} ns, found {} ns", longest_ns,
                     sum_ns);
}

std::string WrongOutcome(const v1::Assignment& assignment, const v1::CandidateResult& result) {
  const v1::MeasureOutcome outcome = result.outcome();
  if (outcome == v1::MEASURE_OUTCOME_NO_REFERENCE &&
      assignment.reference().artifact_digest().empty()) {
    return "expected an outcome without a reference, found that the reference does not run";
  }
  if (v1::MeasureOutcome_IsValid(outcome) && outcome != v1::MEASURE_OUTCOME_UNSPECIFIED) return "";
  return fmt::format("expected an outcome that is known, found {}", static_cast<int>(outcome));
}

// A kernel without constants to rotate is warm in any regime, and what was never timed is in none.
std::string WrongRegime(const v1::Assignment& assignment, const v1::CandidateResult& result) {
  const bool is_timed = result.outcome() == v1::MEASURE_OUTCOME_OK || result.samples_ns_size() > 0;
  if (result.regime() == "warm" || (result.regime().empty() && !is_timed)) return "";
  return Differs("regime", assignment.timing().regime(), result.regime());
}

std::string DifferenceOf(const v1::Assignment& assignment, int at,
                         const v1::CandidateResult& result) {
  const v1::Candidate& asked = assignment.candidates(at);
  for (const std::string& difference :
       {Differs("artifact", asked.artifact_digest(), result.artifact_digest()),
        Differs("toolchain", asked.toolchain(), result.toolchain()),
        WrongRegime(assignment, result)}) {
    if (!difference.empty()) return difference;
  }
  return "";
}

// The anchor may have been timed under an earlier assignment, so a lease's time is all that bounds
// it.
std::string WrongAnchor(const v1::Assignment& assignment, double anchor_ns) {
  if (anchor_ns == 0) return "";
  if (!assignment.has_anchor()) {
    return fmt::format("expected 0 as the time of the anchor, for none was assigned, found {} ns",
                       anchor_ns);
  }
  if (!IsTime(anchor_ns)) {
    return fmt::format("expected a time of the anchor, found {} ns", anchor_ns);
  }
  if (anchor_ns <= static_cast<double>(assignment.lease_ns())) return "";
  return fmt::format("expected a time of the anchor of at most {} ns, found {} ns",
                     assignment.lease_ns(), anchor_ns);
}

// What only a success has.
std::string WrongSuccess(const v1::Assignment& assignment, const v1::CandidateResult& result) {
  if (!(result.error_ratio() >= 0 && result.error_ratio() <= 1)) {
    return fmt::format("expected an error ratio of 0 to 1 of a success, found {}",
                       result.error_ratio());
  }
  if (result.samples_ns_size() == 0) return "expected samples of a success, found none";
  const int count = result.samples_ns_size();
  if (assignment.rounds() > 0) {
    return Differs("rounds", static_cast<int>(assignment.rounds()), count);
  }
  if (count <= kMostSamples) return "";
  return fmt::format("expected at most {} samples, found {}", kMostSamples, count);
}

}  // namespace

std::string FirstDifference(const v1::Assignment& assignment, const v1::Device* device,
                            uint32_t protocol, int64_t held_ns, const v1::MeasureResult& result) {
  std::string found = Differs("trial", assignment.trial(), result.trial());
  if (found.empty() && protocol >= 3) {
    found = Differs("attempt", assignment.attempt(), result.attempt());
    if (found.empty()) found = Differs("device", assignment.device(), result.device());
  }
  if (found.empty() && device == nullptr) found = "expected a device of the worker, found none";
  if (found.empty()) {
    found = Differs("fingerprint", device->fingerprint(), result.device_fingerprint());
  }
  if (found.empty()) {
    found = Differs("candidates", assignment.candidates_size(), result.candidates_size());
  }
  if (found.empty()) found = WrongAnchor(assignment, result.anchor_ns());
  for (int i = 0; i < result.candidates_size() && found.empty(); ++i) {
    const v1::CandidateResult& candidate = result.candidates(i);
    found = WrongOutcome(assignment, candidate);
    if (found.empty()) found = WrongTimes(candidate, assignment.rounds() > 0, held_ns);
    if (found.empty()) found = DifferenceOf(assignment, i, candidate);
    const bool is_success = candidate.outcome() == v1::MEASURE_OUTCOME_OK;
    if (found.empty() && is_success) found = WrongSuccess(assignment, candidate);
    if (!found.empty()) found = fmt::format("candidate {}: {}", i, found);
  }
  return found;
}

}  // namespace hone::tuner
