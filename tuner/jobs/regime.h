// The regime of a kernel's timing: where the kernel finds its constants when its turn comes in the
// model (docs/decisions/0004).
#ifndef HONE_TUNER_JOBS_REGIME_H_
#define HONE_TUNER_JOBS_REGIME_H_

#include <cstdint>
#include <string_view>

#include "tuner/lowerer.h"

namespace hone::tuner {

// The regimes, as records name them.
inline constexpr char kWarm[] = "warm";
inline constexpr char kSharedConstants[] = "shared_constants";  // in the last-level cache
inline constexpr char kColdConstants[] = "cold_constants";      // in memory

// The regime of the task: one of these constants. `model_constant_bytes` is the size of the whole
// model's constants before any preparation; 0: unknown.
const char* RegimeOf(const TaskContext& task, int64_t model_constant_bytes);

// How many bytes the copies of the constants must fill; 0 if the constants do not rotate.
int64_t RotationBytes(std::string_view regime, const TaskContext& task,
                      int64_t model_constant_bytes);

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_REGIME_H_
