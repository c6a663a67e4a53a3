// Whether a kernel's constants are cold when its turn comes in the model (docs/decisions/0004).
#ifndef HONE_TUNER_JOBS_REGIME_H_
#define HONE_TUNER_JOBS_REGIME_H_

#include <cstdint>

#include "tuner/lowerer.h"

namespace hone::tuner {

// As records name them.
inline constexpr char kWarm[] = "warm";
inline constexpr char kColdConstants[] = "cold_constants";

// One of the two. `model_constant_bytes` are those of the whole model; 0: unknown.
const char* RegimeOf(const TaskContext& task, int64_t model_constant_bytes);

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_REGIME_H_
