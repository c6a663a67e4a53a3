// The strategy of pools that combines windows along one axis after the other (SeparateWindows):
// with 5x5 taps a result takes about ten operations instead of 25.
#ifndef HONE_COMPILER_SCHEDULE_WINDOW_SEPARATE_AXES_H_
#define HONE_COMPILER_SCHEDULE_WINDOW_SEPARATE_AXES_H_

#include <memory>

#include "compiler/schedule/strategy.h"
#include "compiler/schedule/window/view.h"

namespace hone::schedule {

// nullptr unless the kernel is a pool of two axes, in blocks of channels, whose windows share so
// much of their rows that this is less work than to combine each window by itself. Where it is
// offered, it is the default.
std::unique_ptr<const Plan> OpenSeparateAxes(
    const std::shared_ptr<const Problem<Windowed>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_WINDOW_SEPARATE_AXES_H_
