// A device of this machine as its driver describes it.
#ifndef HONE_RUNTIME_LISTED_DEVICE_H_
#define HONE_RUNTIME_LISTED_DEVICE_H_

#include <string>

namespace hone {

// A value type.
struct ListedDevice {
  std::string name;    // as FindDevice takes it: "opencl:0"
  std::string target;  // canonical text (compiler/ir/target.h)
  // What times depend on besides the machine: the words of the driver for the device and for
  // itself, one a line.
  std::string identity;
};

}  // namespace hone

#endif  // HONE_RUNTIME_LISTED_DEVICE_H_
