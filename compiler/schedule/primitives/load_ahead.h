#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_LOAD_AHEAD_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_LOAD_AHEAD_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Lets each iteration of a loop load what the next one copies, before it does its own work:
//   for k in 0..n { alloc b { for i { b[i] = f(k, i) }; g(b) } }
//   =>  alloc register b.ahead { for i { b.ahead[i] = f(0, i) };
//       for k in 0..n { alloc b { for i { b[i] = b.ahead[i] };
//         if k + 1 < n { for i { b.ahead[i] = f(k + 1, i) } }; g(b) } } }
// so that it does not wait for memory while there is work. `copy` is the stage of b, which
// ComputeAt has put there. A loop of a single iteration stays as it is.
// kFailedPrecondition where the loop is not serial or has a bound that is no constant, b is not
// allocated in its body outside of other loops and conditions, is filled by more than one statement
// or by one that reads b or stores to another buffer, or the loop stores to what the copy reads.
absl::Status LoadAhead(loop::Nest* nest, const Loop& loop, const Stage& copy);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_LOAD_AHEAD_H_
