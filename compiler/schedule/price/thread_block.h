// Cycles of sums on a machine with a grid of threads. The rates are rough ones of current GPUs, and
// serve to compare tiles of one kernel.
#ifndef HONE_COMPILER_SCHEDULE_PRICE_THREAD_BLOCK_H_
#define HONE_COMPILER_SCHEDULE_PRICE_THREAD_BLOCK_H_

#include <cstdint>

#include "compiler/machine/machine.h"

namespace hone::schedule {

// What the threads of a launch do.
struct ThreadBlocks {
  int64_t blocks = 1;
  int64_t threads = 1;       // of a block
  int64_t results = 1;       // sums of a thread
  int64_t terms = 1;         // of a sum
  double loads = 0;          // words that a thread loads for a term of all its results
  int64_t shared_bytes = 0;  // of a block
  double moved_bytes = 0;    // all that a block moves from and to global memory, used or not
  int64_t access_words = 1;  // neighbours that a thread moves from or to global memory at once
  int64_t waits = 0;         // how often a block waits for global memory
  int64_t words_ahead = 0;   // words a thread loads to registers while it computes; 0: it waits
};

// The cycles from the first block's start to the last one's end.
double ThreadBlockCycles(const ThreadBlocks& work, const machine::Machine& machine);

// The cycles of a launch that adds up, for each of so many results, its sums of several parts,
// which an earlier launch left in global memory. A thread has `at_once` neighbouring results.
// One part needs no such launch, and takes none.
double AddPartsCycles(int64_t results, int64_t at_once, int64_t parts,
                      const machine::Machine& machine);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRICE_THREAD_BLOCK_H_
