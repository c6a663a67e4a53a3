#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_INLINE_STAGE_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_INLINE_STAGE_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Puts the value of a stage `b[i, j] = value(i, j)` in the place of every load of b, and drops its
// launch and buffer. kFailedPrecondition where the stage has another form (a reduction), where b is
// no workspace, has blocks, or is stored to more than once.
absl::Status InlineStage(loop::Nest* nest, const Stage& stage);
// Whether InlineStage would succeed.
bool CanInline(const loop::Nest& nest, const Stage& stage);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_INLINE_STAGE_H_
