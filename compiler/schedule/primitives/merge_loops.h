#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_MERGE_LOOPS_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_MERGE_LOOPS_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Merges two loops of the same bounds into one, named as the first. The second must stand directly
// behind the first in a sequence, or the two must be all of two neighbouring launches, which then
// become one.
//   for i in 0..n { b[i] = f(i) }; for j in 0..n { c[j] = g(b[j]) }
//   =>  for i in 0..n { b[i] = f(i); c[i] = g(b[i]) }
// kFailedPrecondition where they do not stand so, differ in bounds, kind or phase, or where an
// iteration of the one loop could touch what another one writes.
absl::Status MergeLoops(loop::Nest* nest, const Loop& first, const Loop& second);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_MERGE_LOOPS_H_
