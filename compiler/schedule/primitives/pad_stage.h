#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_PAD_STAGE_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_PAD_STAGE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Lets the stage fill a buffer of the extents `shape`, with zeros behind what it filled before:
//   for b.i0 in 0..5 { b[b.i0] = f(b.i0) }
//   =>  for b.i0 in 0..8 { b[b.i0] = select(b.i0 < 5, f(b.i0), 0) }
// so that a reader whose tiles are all whole finds elements there, too.
// kInvalidArgument where `shape` has another rank, or an extent below the buffer's.
// kFailedPrecondition where the buffer is no workspace, has a layout that is not row-major, or is
// filled by more than one value for each element, as sums are.
absl::Status PadStage(loop::Nest* nest, const Stage& stage, const std::vector<int64_t>& shape);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_PAD_STAGE_H_
