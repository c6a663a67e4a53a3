// The devices of this machine, by name.
#ifndef HONE_RUNTIME_FIND_DEVICE_H_
#define HONE_RUNTIME_FIND_DEVICE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device.h"
#include "runtime/listed_device.h"

namespace hone {

// The device called `name`; if that is empty, the first device that may measure for the target
// (CanMeasure), or else the first of the target's kind. `threads` is the number of threads of the
// CPU device; other devices ignore it. Null with a sentence in *error if there is no such device.
std::shared_ptr<Device> FindDevice(const std::string& name, std::string_view target, int threads,
                                   std::string* error);

// The devices that this machine has besides its processor. Loads their drivers, which may start
// threads, and which must not be used in a child of fork().
std::vector<ListedDevice> ListDevices();

}  // namespace hone

#endif  // HONE_RUNTIME_FIND_DEVICE_H_
