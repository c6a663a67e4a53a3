#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_PEEL_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_PEEL_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Takes the first `first` and the last `last` iterations of a loop of constant bounds out of it, so
// that tail extents and border conditions become constants in these and vanish from the rest:
//   for i in 0..n {S(i)}  =>  for i in 0..n-1 {S(i)}; S(n-1)
// A parallel loop keeps its iterations: its body becomes an if. Loops of the copies are named
// "<name>_first" and "<name>_last". A loop with fewer iterations than that becomes copies only.
absl::Status Peel(loop::Nest* nest, const Loop& loop, int64_t first, int64_t last);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_PEEL_H_
