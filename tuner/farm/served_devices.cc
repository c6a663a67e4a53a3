#include "tuner/farm/served_devices.h"

#include <algorithm>

#include "tuner/farm/device_match.h"

namespace hone::tuner {
namespace {

bool AreSame(const hone::v1::Device& a, const hone::v1::Device& b) {
  return a.target() == b.target() && a.threads() == b.threads();
}

}  // namespace

bool ServedDevices::Set(const std::vector<hone::v1::Device>& devices) {
  const std::lock_guard lock(mutex_);
  if (std::equal(devices.begin(), devices.end(), devices_.begin(), devices_.end(), AreSame)) {
    return false;
  }
  devices_ = devices;
  return true;
}

bool ServedDevices::Serves(const std::string& target) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(devices_.begin(), devices_.end(),
                     [&](const auto& device) { return CanMeasure(device, target); });
}

}  // namespace hone::tuner
