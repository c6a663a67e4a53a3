// What the threads of a block load from shared memory for the sums of their tiles.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_SHARED_LOADS_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_SHARED_LOADS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/schedule/generic/block_tile_schedule.h"
#include "compiler/schedule/generic/grid_sums.h"

namespace hone::schedule {

// How many neighbouring words a thread loads at once.
inline constexpr int64_t kVectorColumns = 4;

// The words that a thread loads for one term of all its results. Each counts once for every turn
// that it takes: threads of a warp that ask for different words of one bank take turns. `columns`
// is the axis along which threads are side by side; `strides` are those of each factor's copy along
// each axis (SharedCopies::AxisStrides). Banks are those of NVIDIA's GPUs (CUDA C++ Programming
// Guide, "Shared Memory").
double SharedLoads(const GridSums& sums, const BlockTile& tile, size_t columns,
                   const std::vector<std::vector<int64_t>>& strides);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_SHARED_LOADS_H_
