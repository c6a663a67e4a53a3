#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_FISSION_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_FISSION_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Takes the initialisation of an accumulator out of the loops from `loop` inwards, which stand
// perfectly nested around it:
//   for i, j { c[i, j] = 0; for k { c[i, j] = c[i, j] + .. } }
//   =>  for i_init, j_init { c[i_init, j_init] = 0 }; for i, j, k { c[i, j] = .. }
// so that the update's loops can be reordered. kFailedPrecondition where the initialisation and the
// update of different iterations could touch the same element, or the initial value depends on the
// update.
absl::Status DecomposeReduction(loop::Nest* nest, const Loop& loop);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_FISSION_H_
