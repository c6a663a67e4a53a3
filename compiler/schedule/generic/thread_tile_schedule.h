// Schedules sums so that a thread of a grid computes several of them in registers, and what it
// loads for one serves the others.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_THREAD_TILE_SCHEDULE_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_THREAD_TILE_SCHEDULE_H_

#include <cstddef>
#include <cstdint>

#include "compiler/schedule/generic/grid_sums.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// The results of one thread: `columns` of the last axis and `rows` of another one. Both divide
// their axes' extents.
struct ThreadTile {
  int64_t columns = 1;
  int64_t rows = 1;
  size_t row_axis = 0;

  int64_t Results() const { return columns * rows; }
  // How many values a thread loads for one term of each of its results.
  int64_t Loads(const GridSums& sums) const;
  // Whether what it loads for one result serves others.
  bool SharesLoads(const GridSums& sums) const;
};

// Whether the primitives that TileSums applies work on the stage of the sums.
bool CanTileSums(const Sequence& s, const GridSums& sums);

// Lets each thread compute a tile of the sums. The loops that are to become the grid then stand
// outermost in the launch that stores the results.
void TileSums(Sequence* s, const GridSums& sums, const ThreadTile& tile);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_THREAD_TILE_SCHEDULE_H_
