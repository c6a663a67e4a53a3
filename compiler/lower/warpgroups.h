// Finds products that the threads of four warps do together in tensor cores, from shared memory
// (docs/decisions/0045-warpgroups-multiply.md).
#ifndef HONE_COMPILER_LOWER_WARPGROUPS_H_
#define HONE_COMPILER_LOWER_WARPGROUPS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/loop/bounds.h"
#include "compiler/loop/launch_access.h"
#include "compiler/loop/stmt.h"
#include "compiler/loop/tile_operation.h"
#include "compiler/lower/warps.h"

namespace hone::lower {

// Tile operations of a warp, over parts of the terms and over tiles side by side along the lanes.
// Three other warps do the same with the next rows of the left operand.
struct WarpgroupProduct {
  loop::TileOperation tile;       // of one tile, in terms of the variables of the loops around it
  std::vector<loop::Stmt> parts;  // unrolled loops over the terms, outermost first
  loop::Stmt tiles;               // the unrolled loop over the tiles; null for a single tile
  int64_t lanes = 0;              // of all tiles together
  // Whether it is done in each iteration of a loop, and waited for in the next one (`late`).
  bool is_late = false;
};

struct WarpgroupPlan {
  // Keyed by the outermost of the loops `parts` and `tiles`, or by the tile operation alone.
  absl::flat_hash_map<const loop::StmtNode*, WarpgroupProduct> products;
  // Shared buffers whose rows of 64 elements are swizzled: chunk c of eight elements of row r lies
  // where chunk c xor (r mod 8) of the row would lie otherwise.
  loop::BufferSet swizzled;
  // For each loop with a late product, that product's key in `products`. The product of the last
  // iteration is waited for behind the loop. An iteration writes nothing that its own product or
  // the one before reads, and passes a barrier before it writes what older ones have read. Nothing
  // else in the loop touches the sums.
  absl::flat_hash_map<const loop::StmtNode*, const loop::StmtNode*> late;
};

// The products among the operations of `warps`. In the body, `thread` is the number of a thread,
// from 0 to `threads` - 1, and `bounds` are those of the variables around the body. Both operands
// are in shared memory, have rows of exactly 64 elements, and all their other accesses fit a
// swizzle (swizzles.h). Whole groups of 128 threads take part. What is no such product stays the
// work of single warps.
WarpgroupPlan PlanWarpgroups(const loop::Stmt& body, const WarpPlan& warps,
                             const loop::Expr& thread, int64_t threads, const loop::Bounds& bounds);

}  // namespace hone::lower

#endif  // HONE_COMPILER_LOWER_WARPGROUPS_H_
