// Sums of which a thread of a grid computes several side by side, in registers: what it loads for
// one serves the others.
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
  // What a thread loads for a term of each of its results.
  int64_t Loads(const GridSums& sums) const;
  // Whether what it loads for one result serves others.
  bool SharesLoads(const GridSums& sums) const;
};

// Whether the primitives take the sums' stage, as TileSums applies them.
bool CanTileSums(const Sequence& s, const GridSums& sums);

// Lets a thread of the stage compute a tile. The loops that are to be the grid's stand outermost
// in the launch that stores the results.
void TileSums(Sequence* s, const GridSums& sums, const ThreadTile& tile);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_THREAD_TILE_SCHEDULE_H_
