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
  int64_t rows = 1;          // of the tile of sums of a warp
  int64_t lanes = 1;         // columns of that tile
  int64_t terms = 1;         // of a sum
  int64_t shared_bytes = 0;  // of a block
  double moved_bytes = 0;    // all that a block moves from and to global memory
  int64_t waits = 0;         // how often a block waits for global memory
  double loads = 0;          // instructions of a thread that load from global memory, for each wait
  int64_t copies_ahead = 0;  // that are under way while the block computes
  // The size of a factor. Each product of float32 is computed as three (decision 46).
  int64_t element_bytes = 2;
};

// The cycles from the first block's start to the last one's end.
double WarpBlockCycles(const WarpBlocks& work, const machine::Machine& machine);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRICE_WARP_BLOCK_H_
