#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_SKIP_ZERO_TERMS_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_SKIP_ZERO_TERMS_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// The store below perfectly nested `loop` adds a product one factor of which is zero under a
// condition: then it need not be done at all.
//   c[i] = c[i] + select(p, x, 0) * w  =>  if p {c[i] = c[i] + x * w}
// Results are the same for finite numbers (0 * infinity would be a NaN).
absl::Status SkipZeroTerms(loop::Nest* nest, const Loop& loop);

// Moves conditions of the ifs that everything in the body of `loop` is below, where they bound the
// loop's variable by what is known outside, into the bounds of the loop:
//   for k in 0..3 {if i + k - 1 >= 0 {S}}  =>  for k in max(0, 1 - i)..3 {S}
// Nothing happens where there is no such condition.
absl::Status ClipLoop(loop::Nest* nest, const Loop& loop);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_SKIP_ZERO_TERMS_H_
