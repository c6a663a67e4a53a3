// Reductions over windows of two axes, along one axis after the other.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_SEPARATE_WINDOWS_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_SEPARATE_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// The buffers of the steps before the last.
struct SeparateStages {
  Stage elements;  // (n, c, y, x): what windows read, each element once, padding among them
  Stage rows;      // (n, c, y, w): the windows' rows, combined
};

// Replaces the stage that fills workspace `stage` by combining the elements of windows of two axes,
// which are `strides` apart, by three:
//   for n, c, h, w { b[n, c, h, w] = first; for r0, r1 { b = b op f(h * 2 + r0, w * 2 + r1) } }
//   =>  b.elements[n, c, y, x] = f(y, x)
//       b.rows[n, c, y, w] = neutral of op, then for r0 { op b.elements[n, c, y, w * 2 + r0] }
//       b[n, c, h, w] = first, then for r0 { op b.rows[n, c, h * 2 + r0, w] }
// A row is combined once for all windows that have it: of K x L taps a result takes about K + L
// operations for K * L. Results are those of another order (docs/decisions/0002).
// kFailedPrecondition where the stage is not so: its elements follow from their place alone, so
// that neighbouring taps read neighbours, and op has a neutral element.
absl::StatusOr<SeparateStages> SeparateWindows(loop::Nest* nest, const Stage& stage,
                                               const std::vector<int64_t>& strides);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_SEPARATE_WINDOWS_H_
