// Sums of which the threads of a block compute a tile together: what their terms load is copied to
// memory that the threads share, some steps of the sums at a time, and each thread keeps sums in
// registers.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_TILE_SCHEDULE_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_TILE_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "compiler/schedule/generic/grid_sums.h"
#include "compiler/schedule/primitives/compute_at.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// How an axis of the results is divided.
struct AxisTile {
  int64_t threads = 1;  // of a block, along the axis
  int64_t results = 1;  // of a thread, along the axis
  // A thread's results along the axis are so many runs of neighbours. Runs of other threads lie
  // between them.
  int64_t runs = 1;
};

struct BlockTile {
  std::vector<AxisTile> axes;  // of the results; the last tile of an axis may have less to do
  size_t step_loop = 0;        // the loop of the sums whose steps are taken some at a time
  int64_t steps = 1;           // how many; divides the loop's extent
  bool loads_ahead = false;    // what the next steps copy is loaded while sums are computed
  int64_t slots = 1;  // of each copy; more than one: copies run ahead, without `loads_ahead`

  int64_t Threads() const;
  int64_t Results() const;  // of a thread
  std::vector<int64_t> BlockExtents() const;
  // The same tile of the sums' parts, of which each block computes one (SplitSums).
  BlockTile OfPart() const;
};

// What a block's threads copy to the memory that they share.
class SharedCopies {
 public:
  // `sums.factors` must have a value. `sums` must outlive this object.
  explicit SharedCopies(const GridSums& sums);

  // The bytes of shared memory that one slot of the copies of all factors has. A slot is filled for
  // every `tile.steps` steps of the sums.
  int64_t Bytes(const BlockTile& tile) const;
  // How many elements of all factors a thread copies to fill a slot, if each factor is divided
  // evenly among the threads.
  int64_t WordsOfThread(const BlockTile& tile) const;
  // For each axis of the results: how many elements of the factor's copy lie from what a result
  // loads to what its neighbour along the axis loads.
  std::vector<int64_t> AxisStrides(size_t factor, const BlockTile& tile) const;
  // How the copy of a factor lies there.
  const ComputeAtOptions& options(size_t factor) const { return options_[factor]; }
  // How many elements the copy of a factor has, with those that are allocated and not used or
  // without them.
  int64_t Elements(size_t factor, const BlockTile& tile, bool with_slack) const;

 private:
  const GridSums& sums_;
  std::vector<ComputeAtOptions> options_;  // of each factor
};

// Schedules the sums' launch, with its grid and its threads. `stages`: the factors that stages of
// the nest fill, which are computed where others are copied. `sums.factors` must have a value.
void TileByBlocks(Sequence* s, const GridSums& sums, const std::set<std::string>& stages,
                  const BlockTile& tile);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_TILE_SCHEDULE_H_
