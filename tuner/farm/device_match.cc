#include "tuner/farm/device_match.h"

#include "runtime/target_text.h"

namespace hone::tuner {

bool CanMeasure(const hone::v1::Device& device, std::string_view target) {
  const int threads =
      device.threads() > 0 ? static_cast<int>(device.threads()) : ThreadsOf(device.target());
  return threads >= ThreadsOf(target) && WithoutThreads(device.target()) == WithoutThreads(target);
}

}  // namespace hone::tuner
