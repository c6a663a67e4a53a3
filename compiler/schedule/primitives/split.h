#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_SPLIT_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_SPLIT_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// What becomes of the iterations that do not fill a last tile.
enum class Tail {
  kExact,  // there are none: the factor must divide the extent
  kClip,   // the last tile is shorter: the inner extent is min(factor, what is left)
  kGuard,  // the last tile is as long as others, and the body is below an if
};

// for i in 0..n {S(i)} => for i.o in 0..ceil(n / factor) { for i.i in 0..factor {S(i.o * factor +
// i.i)} }. If `outer` and `inner` are empty, the loops are named loop.Outer() and loop.Inner().
// Both loops are serial afterwards. kFailedPrecondition where kExact does not hold.
absl::Status Split(loop::Nest* nest, const Loop& loop, int64_t factor, Tail tail,
                   const Loop& outer = {}, const Loop& inner = {});

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_SPLIT_H_
