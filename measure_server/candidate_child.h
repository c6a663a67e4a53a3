// What happens in the process of one candidate.
#ifndef HONE_MEASURE_SERVER_CANDIDATE_CHILD_H_
#define HONE_MEASURE_SERVER_CANDIDATE_CHILD_H_

#include <string>

#include "measure_server/child_channel.h"
#include "measure_server/run_protocol.h"
#include "measure_server/sandbox.h"

namespace hone::measure {

struct ChildSetup {
  RunRequest request;
  const Sandbox* sandbox = nullptr;
  std::string device;  // as hone::FindDevice takes it; kHostDevice: this process runs the code
  int artifact_fd = -1;
  int reference_fd = -1;  // to write a reference's outputs to
  // With the process that checks it: the only memory that a candidate shares and can write.
  int shared_fd = -1;
  int control_fd = -1;  // a channel to the zygote
};

// Never return. Each step is said over the channel, and waits for a command where
// child_channel.h has one; nothing is said of a crash.
//
// kStage, kDescribed; where the request has a reference, kRan for each input set; kReady; then what
// is commanded. From kDescribed on code of the artifact runs.
[[noreturn]] void RunCandidateChild(const ChildSetup& setup);
// The reference kernel: both input sets, outputs written to reference_fd, kDone. No timing, no
// guards.
[[noreturn]] void RunReferenceChild(const ChildSetup& setup);
// Opens the device as the others do, kDone. There is no artifact.
[[noreturn]] void RunOpeningChild(const ChildSetup& setup);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CANDIDATE_CHILD_H_
