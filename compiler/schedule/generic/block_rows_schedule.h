// Rows that the threads of a block reduce together: each combines some elements of a row in a
// register, and what they have meets in memory that they share.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_ROWS_SCHEDULE_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_ROWS_SCHEDULE_H_

#include <cstdint>

#include "compiler/schedule/generic/grid_rows.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// How a block's threads share its rows.
struct RowBlock {
  int64_t threads = 2;  // of a row; a power of two
  int64_t rows = 1;     // of the block; divides GridRows::row_extent
  int64_t run = 1;      // neighbours that a thread takes in a row; divides GridRows::columns

  int64_t Threads() const { return threads * rows; }
  // Elements of a row that a thread has, at most.
  int64_t Elements(const GridRows& view) const;
  // How many values of a row each of its threads combines in the last step: one of every thread of
  // the row or, with HasTwoLevels, of every group of them.
  int64_t Parts() const;
  // Whether there are more threads than that, so that one of each group combines the values of its
  // group first.
  bool HasTwoLevels() const { return Parts() < threads; }
};

// Schedules all stages as one launch, with its grid and its threads.
void ComputeRowsByBlocks(Sequence* s, const GridRows& rows, const RowBlock& block);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_BLOCK_ROWS_SCHEDULE_H_
