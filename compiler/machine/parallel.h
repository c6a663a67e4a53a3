// The levels at which a machine computes in parallel.
#ifndef HONE_COMPILER_MACHINE_PARALLEL_H_
#define HONE_COMPILER_MACHINE_PARALLEL_H_

#include <cstdint>

namespace hone::machine {

// kThreads is the only level of a CPU. A GPU has two levels: the blocks of a grid (kGrid) and the
// threads of a block (kBlock). kWarp is not used yet.
enum class ParallelKind { kThreads, kGrid, kBlock, kWarp };

struct ParallelLevel {
  ParallelKind kind = ParallelKind::kThreads;
  // kThreads: the number of threads. kGrid: the multiprocessors or compute units, 1 if their number
  // is not known. kBlock: the most threads that a block may have, likewise.
  int64_t width = 1;
  // kBlock: the memory that the threads of a block may share without asking the driver for more
  // (TensorCores::shared_bytes).
  int64_t shared_bytes = 0;

  bool operator==(const ParallelLevel&) const = default;
};

// What starting a launch costs. Each figure belongs to the model that it is named after.
struct LaunchCosts {
  double features_seconds = 0.5e-6;
  double layouts_ns = 200;
  // The grain. A launch that takes one thread longer than this is faster on several threads, in
  // spite of the barrier that they then need.
  double grain_ns = 2000;
  // Rough times on one thread, for estimates that are compared with the grain. An operation is a
  // scalar or vector instruction, several of which run in a cycle; a byte comes from the L2 cache.
  double grain_operation_ns = 0.1;
  double grain_byte_ns = 0.02;
};

}  // namespace hone::machine

#endif  // HONE_COMPILER_MACHINE_PARALLEL_H_
