#include "runtime/missing_device.h"

namespace hone {

std::string MissingDevice(const std::string& name, size_t count, const std::string& api) {
  return "expected a device " + name + ", found " + std::to_string(count) +
         (count == 1 ? " device of " : " devices of ") + api + " on this machine";
}

}  // namespace hone
