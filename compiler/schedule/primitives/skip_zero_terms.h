#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_SKIP_ZERO_TERMS_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_SKIP_ZERO_TERMS_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Skips the store in the perfectly nested `loop` where it would add zero, since it adds a product
// of which one factor is zero under a condition.
//   c[i] = c[i] + select(p, x, 0) * w  =>  if p {c[i] = c[i] + x * w}
// Results are the same for finite numbers (0 * infinity would be a NaN). kFailedPrecondition where
// the loop nests around anything else.
absl::Status SkipZeroTerms(loop::Nest* nest, const Loop& loop);

// Moves conditions into the bounds of `loop`. It takes them from ifs around everything in the body
// of the loop, where a condition bounds the loop's variable by what is known outside the loop:
//   for k in 0..3 {if i + k - 1 >= 0 {S}}  =>  for k in max(0, 1 - i)..3 {S}
// Nothing happens where there is no such condition. kFailedPrecondition where there is one and the
// loop is not serial.
absl::Status ClipLoop(loop::Nest* nest, const Loop& loop);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_SKIP_ZERO_TERMS_H_
