#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_RFACTOR_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_RFACTOR_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Computes parts of a reduction in a launch of their own, so that threads can share the work:
//   for i { c[i] = first; for r in R { c[i] = c[i] op f } }
//   =>  for p in `parts`, i { c.parts[p, i] = neutral of op;
//                             for r in R / parts { c.parts[p, i] = c.parts[p, i] op f } }
//       for i { c[i] = first; for p { c[i] = c[i] op c.parts[p, i] } }
// `loop` is one of the reduction's, `parts` divides its extent. Results are those of another order
// of summation (docs/decisions/0002). Returns the stage of the new buffer, "<c>.parts", or
// "<c>.parts2" and so on where c had parts before; its loops are "<c>.parts.i0" (the parts),
// "<c>.parts.i1" (c's first axis).., "<c>.parts.r0"... The terms may be under a condition, as Split
// with a guard leaves them. kFailedPrecondition unless the stage's loops have constant extents,
// those over its axes are outermost, and f does not read c.
// The neutral of a sum of floats is -0.0, which no result tells from 0.0 where `first` is 0.0. With
// `starts_at_first`, parts start at `first`, as c does: kFailedPrecondition unless it is zero, and
// c a sum.
absl::StatusOr<Stage> Rfactor(loop::Nest* nest, const Loop& loop, int64_t parts,
                              bool starts_at_first = false);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_RFACTOR_H_
