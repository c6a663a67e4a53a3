// The direct strategy of windows over blocks of channels: lanes are channels, a block of positions
// stays in registers.
#ifndef HONE_COMPILER_SCHEDULE_WINDOW_DIRECT_H_
#define HONE_COMPILER_SCHEDULE_WINDOW_DIRECT_H_

#include <memory>

#include "compiler/schedule/strategy.h"
#include "compiler/schedule/window/view.h"

namespace hone::schedule {

std::unique_ptr<const Plan> OpenWindowDirect(
    const std::shared_ptr<const Problem<Windowed>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_WINDOW_DIRECT_H_
