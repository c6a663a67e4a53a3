#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_CACHE_WRITE_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_CACHE_WRITE_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Lets the stage of `buffer` fill workspace "<buffer>.acc" instead, and a new launch after it copy
// that to `buffer`, so that the copy can be scheduled and the stage be computed at one of its
// loops. The copy's loops are "<buffer>.i0", ...; the stage's are now named after the new buffer.
// `layout` is the layout of the new buffer (empty: row-major). Nothing is stored to its pad lanes,
// but they let ComputeAt extend the copy to whole vectors, which load them
// (ComputeAtOptions::align). Returns the new buffer's stage.
// kFailedPrecondition where `buffer` is neither workspace nor an output, or has pad lanes;
// kInvalidArgument where `layout` does not fit its rank.
absl::StatusOr<Stage> CacheWrite(loop::Nest* nest, const Stage& stage,
                                 const std::string& layout = "");

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_CACHE_WRITE_H_
