#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_LOCAL_SUM_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_LOCAL_SUM_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"

namespace hone::schedule {

// What one iteration of `loop` adds to a sum, perfectly nested below it, is summed in registers
// first:
//   for t { for k, i { c[t, i] = c[t, i] + f } }
//   =>  for t { alloc acc { for i_init { acc[i_init] = 0 }; for k, i { acc[i] = acc[i] + f };
//                           for i_add { c[t, i_add] = c[t, i_add] + acc[i_add] } } }
// Results round in another order. Returns the name of the new buffer, "<c>.acc", whose dimensions
// are the loops that c's indices depend on, outermost first; loops "<c>.x" of the sum become
// "<c>.acc.x", the others are the names of these with "_init" and "<c>.x" again.
// kFailedPrecondition where the body is no such sum of floats, where f reads c, or where the extent
// of one of these loops has no constant bound or depends on another loop of the sum.
absl::StatusOr<std::string> SumLocally(loop::Nest* nest, const std::string& loop);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_LOCAL_SUM_H_
