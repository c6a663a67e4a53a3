// Cycles of sums that tensor cores compute. The rates are rough ones of current GPUs, and serve to
// compare tiles of one kernel.
#ifndef HONE_COMPILER_SCHEDULE_PRICE_WARP_BLOCK_H_
#define HONE_COMPILER_SCHEDULE_PRICE_WARP_BLOCK_H_

#include <cstdint>

#include "compiler/machine/machine.h"

namespace hone::schedule {

// What the blocks of a launch do.
struct WarpBlocks {
  int64_t blocks = 1;
  int64_t warps = 1;         // of a block
  int64_t rows = 1;          // of a warp's sums
  int64_t lanes = 1;         // of them
  int64_t terms = 1;         // of a sum
  int64_t shared_bytes = 0;  // of a block
  double moved_bytes = 0;    // between a block and global memory, in all
  int64_t waits = 0;         // how often a block waits for global memory
  double loads = 0;          // of a thread between two waits
};

// From the first block's start to the last one's end.
double WarpBlockCycles(const WarpBlocks& work, const machine::Machine& machine);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRICE_WARP_BLOCK_H_
