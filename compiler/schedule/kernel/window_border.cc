#include "compiler/schedule/kernel/window_border.h"

#include <algorithm>

#include "compiler/schedule/kernel/kernel_view.h"

namespace hone::schedule {

Border TailBorder(int64_t positions, int64_t tile) { return {0, positions % tile != 0 ? 1 : 0}; }

Border BorderOf(const ops::Window& window, int axis, int64_t input, int64_t positions,
                int64_t tile) {
  Border border;
  const int64_t tiles = CeilDiv(positions, tile);
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t first = t * tile;
    const int64_t last = std::min(positions, first + tile) - 1;
    const int64_t start = first * window.strides[axis] - window.before[axis];
    const int64_t end = last * window.strides[axis] - window.before[axis] +
                        (window.taps[axis] - 1) * window.dilation[axis];
    const bool short_tile = t == tiles - 1 && positions % tile != 0;
    if (start < 0) {
      border.first = t + 1;
    } else if (end >= input || short_tile) {
      border.last = std::max(border.last, tiles - t);
    }
  }
  return border;
}

double InsidePart(const ops::Window& window, int axis, int64_t input, int64_t positions) {
  int64_t inside = 0;
  for (int64_t position = 0; position < positions; ++position) {
    for (int64_t tap = 0; tap < window.taps[axis]; ++tap) {
      const int64_t at =
          position * window.strides[axis] + tap * window.dilation[axis] - window.before[axis];
      inside += at >= 0 && at < input ? 1 : 0;
    }
  }
  return static_cast<double>(inside) / static_cast<double>(positions * window.taps[axis]);
}

Border WithoutWideEnds(Border border, int64_t most, int64_t positions, int64_t tile) {
  const int64_t tail = TailBorder(positions, tile).last;
  // The first end may have been all tiles.
  if (border.first > most) border = {0, std::max(border.last, tail)};
  if (border.last > most) border.last = tail;
  return border;
}

}  // namespace hone::schedule
