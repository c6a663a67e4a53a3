// A device of this machine as its driver describes it.
#ifndef HONE_RUNTIME_LISTED_DEVICE_H_
#define HONE_RUNTIME_LISTED_DEVICE_H_

#include <string>

namespace hone {

struct ListedDevice {
  std::string name;    // as FindDevice takes it: "opencl:0"
  std::string target;  // canonical text (compiler/ir/target.h)
  // Names and versions of the device and its driver, as the driver gives them, each ending with a
  // newline. Times depend on these as well as on the machine.
  std::string identity;
};

}  // namespace hone

#endif  // HONE_RUNTIME_LISTED_DEVICE_H_
