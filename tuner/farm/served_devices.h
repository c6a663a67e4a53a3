// The devices that may be given work now, for other threads to ask about.
#ifndef HONE_TUNER_FARM_SERVED_DEVICES_H_
#define HONE_TUNER_FARM_SERVED_DEVICES_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "hone/v1/farm.pb.h"
#include "tuner/device_need.h"

namespace hone::tuner {

// A group of devices that are alike in all that decides what they can measure.
struct ServedDevice {
  hone::v1::Device device;  // one of them; its sandbox is never UNSPECIFIED
  uint64_t window = 0;      // leases that all of them can hold
};

// Thread-safe.
class ServedDevices {
 public:
  // True if they differ from those before in what they can measure.
  bool Set(std::vector<ServedDevice> devices);
  // Whether one of the devices meets the need.
  bool Serves(const DeviceNeed& need) const;
  // The target of the machine that hosts a device for `target`. It is `target` itself if the device
  // is the machine, or if there is no such device.
  std::string HostTarget(const std::string& target) const;
  // How many leases the devices that meet the need can hold together.
  uint64_t Windows(const DeviceNeed& need) const;

 private:
  struct Answer {
    bool serves = false;
    uint64_t windows = 0;
  };
  Answer AnswerFor(const DeviceNeed& need) const;

  mutable std::mutex mutex_;
  std::vector<ServedDevice> devices_;
  // A cache: every task asks again after each result, and matching has to read texts.
  mutable std::map<DeviceNeed, Answer> answers_;
};

// Whether both devices can measure the same.
bool AreAlike(const hone::v1::Device& a, const hone::v1::Device& b);

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_SERVED_DEVICES_H_
