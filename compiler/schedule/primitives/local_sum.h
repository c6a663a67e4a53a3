#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_LOCAL_SUM_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_LOCAL_SUM_H_

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Lets each iteration of `loop` take its part of a sum in registers, and add it to the sum at the
// end. The loops of the sum are perfectly nested in `loop`:
//   for t { for k, i { c[t, i] = c[t, i] + f } }
//   =>  for t { alloc c.acc { for j { c.acc[j] = 0 }; for k, i { c.acc[i] = c.acc[i] + f };
//                             for i { c[t, i] = c[t, i] + c.acc[i] } } }
// Results round in another order. Returns the stage of the new buffer, "<c>.acc", whose dimensions
// are the loops that c's indices depend on, outermost first. The loops of the last step keep the
// names "<c>.x"; those of the sum are "<c>.acc.x", and those that set it to zero are
// "<c>.acc.x_init". kFailedPrecondition where the body is no such sum of floats, or where f
// reads c. Loops of the sum that c's indices depend on must begin at zero and have extents with a
// constant bound, which depend on no loop of the sum that c's indices do not depend on.
absl::StatusOr<Stage> SumLocally(loop::Nest* nest, const Loop& loop);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_LOCAL_SUM_H_
