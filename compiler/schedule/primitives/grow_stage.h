#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_GROW_STAGE_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_GROW_STAGE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Lets the stage compute a buffer of the extents `shape`, so that its tiles can all be whole:
//   for b.i0 in 0..5 { b[b.i0] = f(b.i0) }  =>  for b.i0 in 0..8 { b[b.i0] = f(b.i0) }
// Nobody reads the new elements yet; what the stage reads for them must exist (PadStage).
// kInvalidArgument where `shape` has another rank, or an extent below the buffer's.
// kFailedPrecondition where the buffer is no workspace, has a layout that is not row-major, or what
// would be read is not known to exist.
absl::Status GrowStage(loop::Nest* nest, const Stage& stage, const std::vector<int64_t>& shape);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_GROW_STAGE_H_
