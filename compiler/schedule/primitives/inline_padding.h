#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_INLINE_PADDING_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_INLINE_PADDING_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Takes one axis out of a stage that surrounds data with a value, so that its readers ask for
// themselves whether they are outside along that axis:
//   pad[i, j] = select(i - 1 >= 0 and i - 1 < n and j - 1 >= 0, x[i - 1, j - 1], 0); .. pad[e, f]
//   => pad[i, j] = select(j - 1 >= 0, x[i, j - 1], 0);
//      .. select(e - 1 >= 0 and e - 1 < n, pad[e - 1, f], 0)
// The buffer then has the extent of the data along the axis. kFailedPrecondition for other stages.
absl::Status InlinePadding(loop::Nest* nest, const Stage& stage, size_t axis);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_INLINE_PADDING_H_
