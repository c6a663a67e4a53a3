// What inputs of measurements are drawn from.
#ifndef HONE_TUNER_INPUT_SEED_H_
#define HONE_TUNER_INPUT_SEED_H_

#include <cstdint>

namespace hone::tuner {

// The seed of the inputs that outputs are checked on. Constant: a worker keeps the reference
// outputs.
inline constexpr uint64_t kInputSeed = 1;

}  // namespace hone::tuner

#endif  // HONE_TUNER_INPUT_SEED_H_
