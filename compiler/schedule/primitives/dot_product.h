#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_DOT_PRODUCT_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_DOT_PRODUCT_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Marks a loop of four steps on bytes, or of two on bfloat16 or float16, as one dot product:
//   for k in 0..4 {c[i] = c[i] + cast<int32>(a[k]) * cast<int32>(b[i, k])}  =>  dot k in 0..4 {..}
// A factor may also be a part of each byte of one int32: (w >> (k * 8 + 4)) & 15. Results for bytes
// do not change. For bfloat16 the target's instruction may sum the two products in its own order
// and take subnormal numbers for zero. For float16 the mark matters only within tile operations
// (loop/tile_operation.h), since back-ends have no vector instruction for it. kFailedPrecondition
// where the body has another form, or where the steps are not neighbours in memory of both factors
// (those of a part of bytes need not be).
absl::Status DotProduct(loop::Nest* nest, const Loop& loop);

// Rounds the number of steps of a sum of products, of 8-bit integers or 16-bit floats, up to a
// multiple of `factor`. The additional
// steps add products of pad lanes, which are zero, or of zeros that PadStage lets a stage fill in:
//   for k in 0..6 {c = c + cast<int32>(a[k]) * cast<int32>(b[k])}  =>  for k in 0..8 {..}
// kFailedPrecondition unless both factors have zeros there.
absl::Status SumPadLanes(loop::Nest* nest, const Loop& loop, int64_t factor);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_DOT_PRODUCT_H_
