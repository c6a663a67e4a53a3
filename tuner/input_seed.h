// The seed of the inputs of measurements.
#ifndef HONE_TUNER_INPUT_SEED_H_
#define HONE_TUNER_INPUT_SEED_H_

#include <cstdint>

namespace hone::tuner {

// The seed of the inputs that outputs are checked on. It is a constant, so that workers can reuse
// reference outputs.
inline constexpr uint64_t kInputSeed = 1;

}  // namespace hone::tuner

#endif  // HONE_TUNER_INPUT_SEED_H_
