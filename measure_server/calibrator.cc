#include "measure_server/calibrator.h"

#include <chrono>

namespace hone::measure {
namespace {

inline void KeepInRegister(float& value) {
#ifdef __aarch64__
  asm volatile("" : "+w"(value));
#else
  asm volatile("" : "+x"(value));
#endif
}

}  // namespace

double RunCalibrator() {
  constexpr int kSteps = 5000;
  float value = 1.0f;
  const auto start = std::chrono::steady_clock::now();
  for (int step = 0; step < kSteps; ++step) {
    value = value * 0.999f + 0.001f;
    KeepInRegister(value);  // every step is done, and none is done ahead
  }
  const auto end = std::chrono::steady_clock::now();
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count());
}

}  // namespace hone::measure
