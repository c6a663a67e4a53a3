#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_REORDER_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_REORDER_H_

#include <vector>

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Puts perfectly nested loops into the order of `loops`, outermost first; loops between them keep
// their places. The body must be one store, `c[..] = value` or `c[..] = c[..] op value`.
// kFailedPrecondition where a bound would depend on a loop further in, and where the order of a
// float sum or product would change without `allow_reassociation` (docs/decisions/0002).
absl::Status Reorder(loop::Nest* nest, const std::vector<Loop>& loops,
                     bool allow_reassociation = false);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_REORDER_H_
