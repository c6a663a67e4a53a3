#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_ANNOTATE_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_ANNOTATE_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// These mark what a loop becomes in generated code; results are unchanged. kFailedPrecondition
// where the extent is no constant, an iteration could depend on another (but for unroll), or a
// parallel loop is not perfectly nested at the top of its launch.
absl::Status Vectorize(loop::Nest* nest, const Loop& loop);
absl::Status Unroll(loop::Nest* nest, const Loop& loop);
absl::Status Parallel(loop::Nest* nest, const Loop& loop);
// The iterations become threads that work together on one index of the launch's grid. Several such
// loops must be nested perfectly in each other.
absl::Status Threads(loop::Nest* nest, const Loop& loop);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_ANNOTATE_H_
