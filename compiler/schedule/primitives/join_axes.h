#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_JOIN_AXES_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_JOIN_AXES_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"

namespace hone::schedule {

// Makes one axis of the last two of the row-major `buffer`, and of all buffers with the same last
// two extents, which it is computed from or is what others are computed from, element by element of
// these axes, or which are reduced along both; their loops become one, named as the first.
//   for h in 0..H { for w in 0..W { b[c, h, w] = f(a[c, h, w]) } }
//   =>  for h in 0..H * W { b[c, h] = f(a[c, h]) }
// Elements stay where they are in memory. kFailedPrecondition where a loop's variable is used in
// any other way, such buffers are prefetched, or the axes have one index each.
absl::Status JoinLastAxes(loop::Nest* nest, const std::string& buffer);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_JOIN_AXES_H_
