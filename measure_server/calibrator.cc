#include "measure_server/calibrator.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

namespace hone::measure {
namespace {

// So many that the units are busy, and not only waited for; they have registers of their own.
constexpr size_t kChains = 12;

inline void KeepInRegister(float& value) {
#ifdef __aarch64__
  asm volatile("" : "+w"(value));
#else
  asm volatile("" : "+x"(value));
#endif
}

// Written out chain by chain: an index of a loop would put the values into memory.
template <size_t... kChain>
inline void Step(std::array<float, kChains>& values, std::index_sequence<kChain...>) {
  // Every step is done, and none is done ahead.
  ((values[kChain] = values[kChain] * 0.999f + 0.001f, KeepInRegister(values[kChain])), ...);
}

}  // namespace

double RunCalibrator() {
  constexpr int kSteps = 5000;
  std::array<float, kChains> values;
  values.fill(1.0f);
  const auto start = std::chrono::steady_clock::now();
  for (int step = 0; step < kSteps; ++step) {
    Step(values, std::make_index_sequence<kChains>());
  }
  const auto end = std::chrono::steady_clock::now();
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count());
}

}  // namespace hone::measure
