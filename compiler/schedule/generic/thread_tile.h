// The strategy of independent threads: each computes one element of a stage, one sum, or a tile of
// sums in registers.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_THREAD_TILE_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_THREAD_TILE_H_

#include <memory>

#include "compiler/schedule/generic/grid_kernel.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

// It takes every kernel.
std::unique_ptr<const Plan> OpenThreadTile(
    const std::shared_ptr<const Problem<GridKernel>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_THREAD_TILE_H_
