// Which cores a worker uses, and which of them it measures on.
#ifndef HONE_MEASURE_SERVER_WORKER_CORES_H_
#define HONE_MEASURE_SERVER_WORKER_CORES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "measure_server/held_cores.h"

namespace hone::measure {

// From here on this thread, and all that it starts, use these cores only (as ParseCores takes them;
// empty: those that they may use already). kInvalidArgument where they may not use them, or where
// there are fewer than `threads` (0: as many as there are).
absl::Status UseCores(const std::string& list, int threads);

// Those that so many threads measure on: the last ones (ThreadTeam::Placement::kPinned).
std::vector<int> MeasuredCores(int threads);

// Holds the cores that are measured on, for as long as the result lives. Where another worker
// measures on some of them it is kFailedPrecondition for cores that somebody chose, and else a
// warning in the log.
absl::StatusOr<HeldCores> HoldCores(const std::vector<int>& cores, bool are_chosen);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_WORKER_CORES_H_
