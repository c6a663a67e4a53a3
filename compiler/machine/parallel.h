// The levels at which a machine computes in parallel.
#ifndef HONE_COMPILER_MACHINE_PARALLEL_H_
#define HONE_COMPILER_MACHINE_PARALLEL_H_

#include <cstdint>

namespace hone::machine {

// kThreads is a CPU's only level. The others are a GPU's: the blocks of a grid, the warps of a
// block, the lanes of a warp.
enum class ParallelKind { kThreads, kGrid, kBlock, kWarp };

struct ParallelLevel {
  ParallelKind kind = ParallelKind::kThreads;
  int64_t width = 1;  // how many compute at once, at most

  bool operator==(const ParallelLevel&) const = default;
};

// What beginning a launch costs. Each figure is the one of the model that it is named after, as
// with ReadRates.
struct LaunchCosts {
  double features_seconds = 0.5e-6;
  double layouts_ns = 200;
  // The time of one thread from about which on several are faster, in spite of the barrier.
  double grain_ns = 2000;
  // Rough times of one thread, to compare with it: of a scalar or vector instruction, several of
  // which run in a cycle, and of a byte of the second cache.
  double grain_operation_ns = 0.1;
  double grain_byte_ns = 0.02;
};

}  // namespace hone::machine

#endif  // HONE_COMPILER_MACHINE_PARALLEL_H_
