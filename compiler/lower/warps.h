// Finds the tile operations that the threads of a warp do together in tensor cores
// (docs/decisions/0040-warps-do-tile-operations.md).
#ifndef HONE_COMPILER_LOWER_WARPS_H_
#define HONE_COMPILER_LOWER_WARPS_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/loop/bounds.h"
#include "compiler/loop/stmt.h"
#include "compiler/loop/tile_operation.h"

namespace hone::lower {

// Whether each iteration of the thread loop, and of those perfectly nested in it, is the work of a
// warp: whether the body consists only of tile operations on float32 sums, with loops and
// conditions around them.
bool IsWarpLoop(const loop::Stmt& thread_loop);
// Whether any thread loop of the body contains such tile operations, even beside other statements.
bool HasTilesInThreads(const loop::Stmt& body);

// Checks a launch's body before LowerThreads. kInvalidArgument if the threads of a warp would not
// compute what the loops mean: if a thread loop contains other statements beside tile operations,
// if a thread loop without tile operations accesses their sums, or if a warp's thread loop loads
// what it stores or has a bound or condition that depends on loaded values.
absl::Status CheckWarpLoops(const loop::Stmt& body);

// The tile operations that the warps of a launch do. It points into the launch's body.
struct WarpPlan {
  // The axes of a buffer of sums along which the rows and the lanes of its tiles lie.
  struct Tiling {
    size_t row_axis = 0;
    size_t lane_axis = 0;

    bool operator==(const Tiling&) const = default;
  };
  absl::flat_hash_map<const loop::StmtNode*, Tiling> sums;  // keyed by kAlloc statement
  // Keyed by the outermost loop of the operation.
  absl::flat_hash_map<const loop::StmtNode*, loop::TileOperation> operations;
};

// The plan for a body that LowerThreads has lowered, in which warps do all tile operations.
// `bounds` are those of the variables that are bound around the body. kInvalidArgument shows the
// first tile operation that tensor cores have no instruction for, or whose sums do not lie in tiles
// side by side along the same two axes everywhere.
absl::StatusOr<WarpPlan> PlanWarps(const loop::Stmt& body, const loop::Bounds& bounds);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_WARPS_H_
