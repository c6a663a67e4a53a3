// Cycles of sums that warpgroups compute from copies in shared memory. The rates are those of one
// machine, Hopper, which alone has the instruction.
#ifndef HONE_COMPILER_SCHEDULE_PRICE_WARPGROUP_BLOCK_H_
#define HONE_COMPILER_SCHEDULE_PRICE_WARPGROUP_BLOCK_H_

#include <cstdint>

#include "compiler/machine/machine.h"

namespace hone::schedule {

// What the blocks of a launch do.
struct WarpgroupBlocks {
  int64_t blocks = 1;
  int64_t groups = 1;        // of a block; each has its own rows of the tile of sums
  int64_t lanes = 1;         // columns of that tile
  int64_t copies = 1;        // that a block makes, each of 64 terms of all its rows and columns
  int64_t copies_ahead = 0;  // that are under way while a block multiplies
  bool waits_later = false;  // for the products of a step: in the next one
  double loads = 0;          // of a thread for a copy
  double copied_bytes = 0;   // of a copy
  double result_bytes = 0;   // of the tile of sums
  int64_t shared_bytes = 0;  // of a block
};

// The cycles from the first block's start to the last one's end.
double WarpgroupBlockCycles(const WarpgroupBlocks& work, const machine::Machine& machine);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRICE_WARPGROUP_BLOCK_H_
