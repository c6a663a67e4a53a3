#ifndef HONE_COMPILER_SCHEDULE_KERNEL_WINDOW_BORDER_H_
#define HONE_COMPILER_SCHEDULE_KERNEL_WINDOW_BORDER_H_

#include <cstdint>

#include "compiler/ops/window.h"

namespace hone::schedule {

// Tiles at the start (end) of an axis whose windows leave the data; a last, shorter tile counts as
// leaving it.
struct Border {
  int64_t first = 0;
  int64_t last = 0;
};

// Where all tiles but a shorter last one are alike.
Border TailBorder(int64_t positions, int64_t tile);

// Along spatial axis `axis` of `positions` window positions over `input` elements, cut into tiles.
Border BorderOf(const ops::Window& window, int axis, int64_t input, int64_t positions,
                int64_t tile);

// The part of the taps along the axis that read the data, of those of all positions.
double InsidePart(const ops::Window& window, int axis, int64_t input, int64_t positions);

// Without the ends of more than `most` tiles; a shorter last tile stays apart.
Border WithoutWideEnds(Border border, int64_t most, int64_t positions, int64_t tile);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_KERNEL_WINDOW_BORDER_H_
