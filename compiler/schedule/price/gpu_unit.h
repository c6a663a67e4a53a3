// Rough figures of one unit (streaming multiprocessor) of a GPU, by which schedules of one kernel
// are compared. They are near those of NVIDIA's GPUs from Ampere on (CUDA C++ Programming Guide,
// "Compute Capabilities").
#ifndef HONE_COMPILER_SCHEDULE_PRICE_GPU_UNIT_H_
#define HONE_COMPILER_SCHEDULE_PRICE_GPU_UNIT_H_

#include <cstdint>

namespace hone::schedule::gpu_unit {

// The most that all blocks which run on a unit at once may have together.
inline constexpr int64_t kThreads = 2048;
inline constexpr int64_t kBlocks = 32;
inline constexpr int64_t kRegisters = 65536;
inline constexpr int64_t kSharedBytes = 100 << 10;

// How many bytes a unit moves from or to global memory in a cycle.
inline constexpr double kGlobalBytesACycle = 16;
// The same of shared memory.
inline constexpr double kSharedBytesACycle = 128;
// The latency of a load from global memory.
inline constexpr double kGlobalWaitCycles = 600;
// The factor by which global memory takes longer to answer where blocks copy ahead.
inline constexpr double kLatencyAhead = 2;
// Loads that a thread has under way at once.
inline constexpr double kLoadsUnderWay = 8;
// Threads of a unit that hide its latencies.
inline constexpr int64_t kBusyThreads = 256;
// What a launch takes by itself, as a node of a graph of launches.
inline constexpr double kLaunchCycles = 1500;

}  // namespace hone::schedule::gpu_unit

#endif  // HONE_COMPILER_SCHEDULE_PRICE_GPU_UNIT_H_
