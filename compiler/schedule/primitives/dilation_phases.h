// Makes convolutions of neighbouring taps of dilated ones.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_DILATION_PHASES_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_DILATION_PHASES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// The buffers between the steps; p counts the phases, those of the width innermost.
struct DilationStages {
  Stage data;    // (n, ic, p, y, x): what the windows of a phase read
  Stage weight;  // (oc, ic, 0, kh, kw)
  Stage result;  // (n, oc, p, y, x)
};

// Takes a stage that fills workspace `buffer` with a two-dimensional convolution of stride one,
// whose taps are dilation_h and dilation_w apart. Replaces it by a three-dimensional convolution of
// neighbouring taps, whose depth are dilation_h * dilation_w phases; each phase has the rows and
// columns whose indices leave the same remainders. It reads copies of the data and weights, and a
// last stage copies its results to `buffer`:
//   buffer[n, oc, h, w] = result[n, oc, (h mod dilation_h) * dilation_w + w mod dilation_w,
//                                h div dilation_h, w div dilation_w]
// kFailedPrecondition where the stage is no such convolution.
absl::StatusOr<DilationStages> SplitDilation(loop::Nest* nest, const Stage& stage,
                                             int64_t dilation_h, int64_t dilation_w);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_DILATION_PHASES_H_
