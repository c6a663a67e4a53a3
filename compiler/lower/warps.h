// Warps: threads of a block that do tile operations together, in tensor cores
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

// Whether an iteration of the thread loop, and of those directly in it, is a warp's: it consists of
// tile operations with sums of float32, and loops around them.
bool IsWarpLoop(const loop::Stmt& thread_loop);
// Whether thread loops of the body have such operations, be it beside others.
bool HasTilesInThreads(const loop::Stmt& body);

// A launch's body with tile operations in thread loops, before these are lowered. kInvalidArgument
// where a warp's threads would not do what the loops say: something else in a thread loop with tile
// operations, or that touches their sums; a bound or a condition in such a loop that is loaded.
absl::Status CheckWarpLoops(const loop::Stmt& body);

// What the warps of a launch do. It points into the launch's body.
struct WarpPlan {
  // How sums lie in tiles, by the axes of their buffer: a tile's rows are along one, its lanes
  // along another.
  struct Tiling {
    size_t row_axis = 0;
    size_t lane_axis = 0;

    bool operator==(const Tiling&) const = default;
  };
  absl::flat_hash_map<const loop::StmtNode*, Tiling> sums;  // by their kAlloc statement
  // By their outermost loop.
  absl::flat_hash_map<const loop::StmtNode*, loop::TileOperation> operations;
};

// The plan of a body whose thread loops are lowered, and whose tile operations are all warps'.
// `bounds` are those around the body. kInvalidArgument names the first tile operation that has
// another shape than the instructions.
absl::StatusOr<WarpPlan> PlanWarps(const loop::Stmt& body, const loop::Bounds& bounds);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_WARPS_H_
