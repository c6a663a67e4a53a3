// Chooses the cores that a worker uses and those that it measures on.
#ifndef HONE_MEASURE_SERVER_WORKER_CORES_H_
#define HONE_MEASURE_SERVER_WORKER_CORES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "measure_server/held_cores.h"

namespace hone::measure {

// Restricts this thread, and all that it starts later, to these cores (as ParseCores takes them;
// empty: no change). kInvalidArgument if the process may not use them, or if there are fewer than
// `threads` (0: any number will do).
absl::Status UseCores(const std::string& list, int threads);

// The cores that `threads` threads measure on: the last usable ones, as for
// ThreadTeam::Placement::kPinned.
std::vector<int> MeasuredCores(int threads);

// Holds the cores for as long as the result lives. If another worker measures on some of them, logs
// a warning, or fails with kFailedPrecondition if `are_chosen`, that is, if the user named the
// cores.
absl::StatusOr<HeldCores> HoldCores(const std::vector<int>& cores, bool are_chosen);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_WORKER_CORES_H_
