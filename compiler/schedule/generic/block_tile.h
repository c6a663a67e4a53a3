// The strategy of threads that share memory: those of a block compute a tile of sums together, from
// copies of what their terms load.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_TILE_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_TILE_H_

#include <memory>

#include "compiler/schedule/generic/grid_kernel.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

// Takes kernels with sums of which each factor serves several results: matrix products and
// convolutions.
std::unique_ptr<const Plan> OpenBlockTile(
    const std::shared_ptr<const Problem<GridKernel>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_TILE_H_
