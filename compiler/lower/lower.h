// Lowers a scheduled nest to launches, from which a back-end makes code.
#ifndef HONE_COMPILER_LOWER_LOWER_H_
#define HONE_COMPILER_LOWER_LOWER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/target.h"
#include "compiler/loop/stmt.h"
#include "compiler/lower/lowered_launch.h"

namespace hone::lower {

// The launches of the nest in execution order, prepare launches first. kInvalidArgument if the nest
// has no launches, if a launch has no body, or where CheckWarpLoops, LowerThreads or PlanWarps
// refuses one.
absl::StatusOr<std::vector<LoweredLaunch>> LowerLaunches(const loop::Nest& nest,
                                                         const Target& target);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_LOWER_H_
