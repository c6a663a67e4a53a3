// The process of one candidate.
#ifndef HONE_MEASURE_SERVER_CANDIDATE_CHILD_H_
#define HONE_MEASURE_SERVER_CANDIDATE_CHILD_H_

#include "measure_server/run_place.h"
#include "measure_server/run_protocol.h"

namespace hone::measure {

struct ChildSetup {
  RunRequest request;
  const RunPlace* place = nullptr;
  int artifact_fd = -1;
  int reference_fd = -1;  // where a reference writes its outputs
  // Memory shared with the process that checks: the only shared memory that a candidate can write.
  int shared_fd = -1;
  int control_fd = -1;  // a channel to the zygote
  // Whether the candidate is only loaded, away from the measured cores, until kBegin comes.
  bool is_ahead = false;
};

// Runs a candidate and never returns. Talks over the channel (child_channel.h) in this order: says
// kStage and kDescribed (after kBegin, if it is started ahead); if the request has a reference,
// answers kCheck with kRan for each input set; says kReady; then answers kRound and kOutputs until
// kEnd comes. Says kFailed instead if a step fails, but does not report a crash. The artifact's
// code runs only after kDescribed.
[[noreturn]] void RunCandidateChild(const ChildSetup& setup);
// Runs the reference kernel on both input sets, without timing or guards, writes its outputs to
// reference_fd, reports kDone, and never returns.
[[noreturn]] void RunReferenceChild(const ChildSetup& setup);
// Opens the device as the two functions above do, reports kDone, and never returns. It needs no
// artifact.
[[noreturn]] void RunOpeningChild(const ChildSetup& setup);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CANDIDATE_CHILD_H_
