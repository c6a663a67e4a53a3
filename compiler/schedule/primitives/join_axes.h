#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_JOIN_AXES_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_JOIN_AXES_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"

namespace hone::schedule {

// Joins the last two axes of the row-major `buffer` into one, and also those of every other
// row-major buffer of the nest that has the same rank and the same last two extents. Two loops over
// these axes become one, named as the first.
//   for h in 0..H { for w in 0..W { b[c, h, w] = f(a[c, h, w]) } }
//   =>  for h in 0..H * W { b[c, h] = f(a[c, h]) }
// Elements stay where they are in memory. kFailedPrecondition where a launch does not go through
// the two axes together, uses the variable of such a loop in any other way or prefetches such a
// buffer, or where the axes have one index each.
absl::Status JoinLastAxes(loop::Nest* nest, const std::string& buffer);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_JOIN_AXES_H_
