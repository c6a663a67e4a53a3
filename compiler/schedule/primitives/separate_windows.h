// Separates reductions over two-dimensional windows into reductions along one axis after the other.
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

// Takes a stage that fills a workspace by combining the elements of two-dimensional windows, which
// are `strides` apart. Replaces it by three stages:
//   for n, c, h, w { b[n, c, h, w] = first; for r0, r1 { b = b op f(h * 2 + r0, w * 2 + r1) } }
//   =>  b.elements[n, c, y, x] = f(y, x)
//       b.rows[n, c, y, w] = neutral of op, then for r0 { op b.elements[n, c, y, w * 2 + r0] }
//       b[n, c, h, w] = first, then for r0 { op b.rows[n, c, h * 2 + r0, w] }
// A row is combined once for all windows that have it, so a result of K x L taps takes about K + L
// operations instead of K * L. Results are those of another order (docs/decisions/0002).
// kFailedPrecondition unless every element depends on its place alone, so that neighbouring taps
// read neighbouring elements, and op has a neutral element.
absl::StatusOr<SeparateStages> SeparateWindows(loop::Nest* nest, const Stage& stage,
                                               const std::vector<int64_t>& strides);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_SEPARATE_WINDOWS_H_
