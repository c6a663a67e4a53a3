// Figures of one unit (streaming multiprocessor) of a GPU, as those of NVIDIA from Ampere on have
// them (CUDA C++ Programming Guide, "Compute Capabilities"). They are rough, and serve to compare
// schedules of one kernel.
#ifndef HONE_COMPILER_SCHEDULE_PRICE_GPU_UNIT_H_
#define HONE_COMPILER_SCHEDULE_PRICE_GPU_UNIT_H_

#include <cstdint>

namespace hone::schedule::gpu_unit {

// What all blocks that are on a unit at once have together, at most.
inline constexpr int64_t kThreads = 2048;
inline constexpr int64_t kBlocks = 32;
inline constexpr int64_t kRegisters = 65536;
inline constexpr int64_t kSharedBytes = 100 << 10;

inline constexpr double kGlobalBytesACycle = 16;
// From a load of global memory to its value.
inline constexpr double kGlobalWaitCycles = 600;
// Loads that a thread has under way at once.
inline constexpr double kLoadsUnderWay = 8;

}  // namespace hone::schedule::gpu_unit

#endif  // HONE_COMPILER_SCHEDULE_PRICE_GPU_UNIT_H_
