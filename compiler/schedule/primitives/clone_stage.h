#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_CLONE_STAGE_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_CLONE_STAGE_H_

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Computes `stage` a second time, for the launch that fills `reader` alone, so that each of the two
// can be computed at a loop of its own readers:
//   for i { b[i] = f(i) }; for j { c[j] = g(b[j]) }; for k { d[k] = h(b[k]) }
//   =>  for i { b[i] = f(i) }; for j { c[j] = g(b[j]) };
//       for i { b.again[i] = f(i) }; for k { d[k] = h(b.again[k]) }
// The new launch stands directly before the reader. Answers its stage, workspace "<b>.again", whose
// loops are named after it. kFailedPrecondition where `stage` fills no workspace, where the reader
// does not load it, or where what it loads may have changed by then.
absl::StatusOr<Stage> CloneStage(loop::Nest* nest, const Stage& stage, const Stage& reader);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_CLONE_STAGE_H_
