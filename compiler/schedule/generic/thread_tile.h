// Tiles sums for GPUs: each thread of the grid computes several sums side by side in registers, so
// that what it loads for one serves the others.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_THREAD_TILE_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_THREAD_TILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/schedule/primitives/stage.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// A stage that computes one sum for each of its results, in loops over all axes of the results.
struct GridSums {
  Stage stage;
  std::vector<int64_t> extents;  // of the results' axes
  size_t steps = 0;              // how many nested loops a sum has
  // For each load in a term, whether it depends on each of the axes.
  std::vector<std::vector<bool>> factors;

  // The number of results.
  int64_t Results() const;
};

// The results of one thread: `columns` of the last axis and `rows` of another one. Both divide
// their axes' extents.
struct ThreadTile {
  int64_t columns = 1;
  int64_t rows = 1;
  size_t row_axis = 0;

  int64_t Results() const { return columns * rows; }
  // The number of loads of a thread for one term of each of its results.
  int64_t Loads(const GridSums& sums) const;
  // Whether any load serves more than one result.
  bool SharesLoads(const GridSums& sums) const;
};

// Finds the stage with the most terms in all, among those that can be tiled. nullopt if there is
// none.
std::optional<GridSums> MainSums(const Sequence& s);

// Schedules the stage so that a thread computes a tile. The loops that are to become the grid are
// then outermost in the launch that stores the results. Errors are kept in the sequence.
void TileSums(Sequence* s, const GridSums& sums, const ThreadTile& tile);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_THREAD_TILE_H_
