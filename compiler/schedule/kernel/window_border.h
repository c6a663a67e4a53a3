#ifndef HONE_COMPILER_SCHEDULE_KERNEL_WINDOW_BORDER_H_
#define HONE_COMPILER_SCHEDULE_KERNEL_WINDOW_BORDER_H_

#include <cstdint>

#include "compiler/ops/window.h"

namespace hone::schedule {

// How many tiles at the start and at the end of an axis have windows that leave the data; a last,
// shorter tile counts as one of them.
struct Border {
  int64_t first = 0;
  int64_t last = 0;
};

// The border where all tiles but a shorter last one are alike.
Border TailBorder(int64_t positions, int64_t tile);

// The border along spatial axis `axis`, which has `positions` window positions over `input`
// elements, cut into tiles.
Border BorderOf(const ops::Window& window, int axis, int64_t input, int64_t positions,
                int64_t tile);

// The part, from 0 to 1, of the taps of all positions along the axis that read the data and not
// padding.
double InsidePart(const ops::Window& window, int axis, int64_t input, int64_t positions);

// The border without an end that has more than `most` tiles; a shorter last tile stays in it.
Border WithoutWideEnds(Border border, int64_t most, int64_t positions, int64_t tile);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_KERNEL_WINDOW_BORDER_H_
