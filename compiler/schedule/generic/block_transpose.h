// The strategy of threads that turn tiles: those of a block load a tile along one axis into memory
// that they share, and store it along another.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_TRANSPOSE_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_TRANSPOSE_H_

#include <memory>

#include "compiler/schedule/generic/grid_kernel.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

// Takes transposes and changes of layout, with elementwise operators around them.
std::unique_ptr<const Plan> OpenBlockTranspose(
    const std::shared_ptr<const Problem<GridKernel>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_TRANSPOSE_H_
