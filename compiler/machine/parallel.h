// The levels at which a machine computes in parallel.
#ifndef HONE_COMPILER_MACHINE_PARALLEL_H_
#define HONE_COMPILER_MACHINE_PARALLEL_H_

#include <cstdint>

namespace hone::machine {

// kThreads is the only level of a CPU. The others are those of a GPU: the blocks of a grid, the
// warps of a block, the lanes of a warp.
enum class ParallelKind { kThreads, kGrid, kBlock, kWarp };

struct ParallelLevel {
  ParallelKind kind = ParallelKind::kThreads;
  int64_t width = 1;         // the most that compute at once
  int64_t shared_bytes = 0;  // of kBlock: the memory that its threads share

  bool operator==(const ParallelLevel&) const = default;
};

// What starting a launch costs. As in ReadRates, each figure belongs to the model that it is named
// after.
struct LaunchCosts {
  double features_seconds = 0.5e-6;
  double layouts_ns = 200;
  // The grain: about the time on one thread from which on several threads are faster, in spite of
  // the barrier.
  double grain_ns = 2000;
  // Rough times on one thread, for estimates that are compared with the grain: of a scalar or
  // vector instruction, several of which run in a cycle, and of a byte from the second cache.
  double grain_operation_ns = 0.1;
  double grain_byte_ns = 0.02;
};

}  // namespace hone::machine

#endif  // HONE_COMPILER_MACHINE_PARALLEL_H_
