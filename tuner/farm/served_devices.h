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

// Devices that are alike where it matters for what they can measure.
struct ServedDevice {
  hone::v1::Device device;  // one of them; its sandbox is never UNSPECIFIED
  uint64_t window = 0;      // leases that all of them can hold
};

// Thread-safe.
class ServedDevices {
 public:
  // True: they differ from those before in what they can measure.
  bool Set(std::vector<ServedDevice> devices);
  // Whether one of them can measure code for the target (canonical text, -threads included), and is
  // what is needed.
  bool Serves(const DeviceNeed& need) const;
  // The target of the machine that a device for `target` is in. It is `target` where the machine is
  // the device, or where there is no such device.
  std::string HostTarget(const std::string& target) const;
  // How many leases the devices with which it is served can hold.
  uint64_t Windows(const DeviceNeed& need) const;

 private:
  struct Answer {
    bool serves = false;
    uint64_t windows = 0;
  };
  Answer AnswerFor(const DeviceNeed& need) const;

  mutable std::mutex mutex_;
  std::vector<ServedDevice> devices_;
  // Every task asks again after each result, and matching reads texts.
  mutable std::map<DeviceNeed, Answer> answers_;
};

// Whether both can measure the same.
bool AreAlike(const hone::v1::Device& a, const hone::v1::Device& b);

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_SERVED_DEVICES_H_
