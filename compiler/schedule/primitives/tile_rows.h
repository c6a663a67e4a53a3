#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_TILE_ROWS_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_TILE_ROWS_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Marks a loop over the rows of a tile of sums as one operation of tile registers:
//   for m in 0..16 {vectorize n in 0..16 {c[m, n] = 0.0}}  =>  tile m in 0..16 {..}
// Results of integers do not change. For 16-bit floats the target's instruction may sum the
// products of a step in its own order, and for bfloat16 take subnormal numbers for zero; for
// float32 it may split the factors, and sum the products of the operation apart
// (docs/decisions/0046-float32-on-tensor-cores.md). kFailedPrecondition where the loop has none of
// the forms that docs/loop-nests.md lists.
absl::Status TileRows(loop::Nest* nest, const Loop& loop);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_TILE_ROWS_H_
