// The strategy of threads that share rows: those of a block reduce one row, or a few, together.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_ROWS_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_ROWS_H_

#include <memory>

#include "compiler/schedule/generic/grid_kernel.h"
#include "compiler/schedule/strategy.h"

namespace hone::schedule {

// Takes softmax, normalisations, reductions and products of matrices with vectors: kernels whose
// reductions are all of the same rows.
std::unique_ptr<const Plan> OpenBlockRows(
    const std::shared_ptr<const Problem<GridKernel>>& problem);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_ROWS_H_
