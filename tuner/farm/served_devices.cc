#include "tuner/farm/served_devices.h"

#include <algorithm>

#include "tuner/farm/device_match.h"

namespace hone::tuner {

bool AreAlike(const hone::v1::Device& a, const hone::v1::Device& b) {
  return a.target() == b.target() && a.threads() == b.threads() && a.kind() == b.kind() &&
         a.host_target() == b.host_target() && a.sandbox() == b.sandbox() &&
         a.fingerprint() == b.fingerprint();
}

bool ServedDevices::Set(std::vector<ServedDevice> devices) {
  const std::lock_guard lock(mutex_);
  const bool is_same =
      std::equal(devices.begin(), devices.end(), devices_.begin(), devices_.end(),
                 [](const auto& a, const auto& b) { return AreAlike(a.device, b.device); });
  devices_ = std::move(devices);
  return !is_same;
}

bool ServedDevices::Serves(const DeviceNeed& need) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(devices_.begin(), devices_.end(), [&](const ServedDevice& served) {
    return Meets(served.device, served.device.sandbox(), need);
  });
}

std::string ServedDevices::HostTarget(const std::string& target) const {
  const std::lock_guard lock(mutex_);
  for (const ServedDevice& served : devices_) {
    const std::string& host = served.device.host_target();
    if (!host.empty() && CanMeasure(served.device, target)) return host;
  }
  return target;
}

uint64_t ServedDevices::Windows(const DeviceNeed& need) const {
  const std::lock_guard lock(mutex_);
  uint64_t windows = 0;
  for (const ServedDevice& served : devices_) {
    if (Meets(served.device, served.device.sandbox(), need)) windows += served.window;
  }
  return windows;
}

}  // namespace hone::tuner
