#include "tuner/farm/served_devices.h"

#include <algorithm>
#include <cstddef>

#include "tuner/farm/device_match.h"

namespace hone::tuner {

namespace {

constexpr size_t kMostAnswers = 4096;

}  // namespace

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
  answers_.clear();
  return !is_same;
}

bool ServedDevices::Serves(const DeviceNeed& need) const { return AnswerFor(need).serves; }

std::string ServedDevices::HostTarget(const std::string& target) const {
  const std::lock_guard lock(mutex_);
  for (const ServedDevice& served : devices_) {
    const std::string& host = served.device.host_target();
    if (!host.empty() && CanMeasure(served.device, target)) return host;
  }
  return target;
}

uint64_t ServedDevices::Windows(const DeviceNeed& need) const { return AnswerFor(need).windows; }

ServedDevices::Answer ServedDevices::AnswerFor(const DeviceNeed& need) const {
  const std::lock_guard lock(mutex_);
  // Needs come from users without end.
  if (answers_.size() >= kMostAnswers) answers_.clear();
  const auto [it, is_new] = answers_.try_emplace(need);
  if (!is_new) return it->second;
  for (const ServedDevice& served : devices_) {
    if (!Meets(served.device, served.device.sandbox(), need)) continue;
    it->second.serves = true;
    it->second.windows += served.window;
  }
  return it->second;
}

}  // namespace hone::tuner
