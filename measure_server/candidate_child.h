// What happens in the process of one candidate.
#ifndef HONE_MEASURE_SERVER_CANDIDATE_CHILD_H_
#define HONE_MEASURE_SERVER_CANDIDATE_CHILD_H_

#include "measure_server/run_protocol.h"
#include "measure_server/sandbox.h"

namespace hone::measure {

struct ChildSetup {
  RunRequest request;
  const Sandbox* sandbox = nullptr;
  int artifact_fd = -1;
  int reference_fd = -1;  // of outputs to compare with (or to write, of a reference); -1: none
  int64_t start_ns = 0;   // on the clock when its fork began
  int control_fd = -1;    // a stream socket to the zygote
  // Shared; the only memory that the child shares with others and can write (apart from what a
  // reference writes).
  RunReport* report = nullptr;
};

// What goes over the control socket, a byte each. The child says kReady when it has loaded, checked
// and set up everything; then for each kRound it times one round and says kDone; kEnd or the end of
// the stream ends it.
enum ControlByte : char { kReady = 'r', kRound = 't', kDone = 'd', kEnd = 'e' };

// Never returns. Whatever comes of it is in the report; a crash or a kill leaves the outcome kNone.
[[noreturn]] void RunCandidateChild(const ChildSetup& setup);
// The reference kernel: both input sets, outputs written to reference_fd. No timing, no guards.
[[noreturn]] void RunReferenceChild(const ChildSetup& setup);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CANDIDATE_CHILD_H_
