#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_UNSWITCH_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_UNSWITCH_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Takes conditions of selects and ifs that do not change in `loop` out of it:
//   for i {a[i] = select(c and d(i), x, y)}
//   =>  if c {for i {a[i] = select(d(i), x, y)}} else {for i {a[i] = y}}
// A parallel loop keeps its place, its body is treated instead. Nothing happens where there is no
// such condition. Loops of the second copy are named "<name>_else".
absl::Status Unswitch(loop::Nest* nest, const Loop& loop);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_UNSWITCH_H_
