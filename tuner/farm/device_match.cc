#include "tuner/farm/device_match.h"

#include "runtime/device_match/device_match.h"
#include "tuner/farm/device_class.h"

namespace hone::tuner {

bool CanMeasure(const hone::v1::Device& device, std::string_view target) {
  return hone::CanMeasure({device.target(), static_cast<int>(device.threads())}, target);
}

bool Meets(const hone::v1::Device& device, hone::v1::SandboxLevel sandbox, const DeviceNeed& need) {
  return CanMeasure(device, need.target) && sandbox >= need.sandbox &&
         IsOfClass(device, need.device_class);
}

}  // namespace hone::tuner
