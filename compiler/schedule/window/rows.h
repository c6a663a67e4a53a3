// The strategy of windows over rows of row-major data: lanes are neighbours along the width.
#ifndef HONE_COMPILER_SCHEDULE_WINDOW_ROWS_H_
#define HONE_COMPILER_SCHEDULE_WINDOW_ROWS_H_

#include <memory>

#include "compiler/schedule/strategy.h"
#include "compiler/schedule/window/view.h"

namespace hone::schedule {

// It takes a depthwise convolution or a pool of two axes, all of whose layouts are row-major. A
// tile of rows by vectors stays in registers. Tiles at the border are apart, and read what may be
// padding under masks.
std::unique_ptr<const Plan> OpenWindowRows(const std::shared_ptr<const Problem<Windowed>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_WINDOW_ROWS_H_
