#include "tuner/farm/device_match.h"

#include "runtime/device_match/device_match.h"

namespace hone::tuner {

bool CanMeasure(const hone::v1::Device& device, std::string_view target) {
  return hone::CanMeasure({device.target(), static_cast<int>(device.threads())}, target);
}

}  // namespace hone::tuner
