// The devices that tests run models on, other than the processor.
#ifndef HONE_TESTS_COMPILER_DRIVER_DEVICE_HERE_H_
#define HONE_TESTS_COMPILER_DRIVER_DEVICE_HERE_H_

#include <ostream>
#include <string>
#include <vector>

#include "compiler/ir/target.h"
#include "gtest/gtest.h"

namespace hone::driver {

// A kind of device, by the names that tests print.
struct DeviceKind {
  std::string name;     // "OpenCl"
  std::string device;   // "opencl:0"
  std::string target;   // a target that every device of the kind runs
  std::string missing;  // what to install where there is none
};
inline std::ostream& operator<<(std::ostream& stream, const DeviceKind& kind) {
  return stream << kind.name;
}

// OpenCL, and CUDA, whose driver in CI is one that stands in for NVIDIA's (tests/runtime/cuda).
const std::vector<DeviceKind>& DeviceKinds();

// Whether this machine has a device of the kind. The device is asked in a child, so that children
// of this process may use it too.
bool IsHere(const DeviceKind& kind);

#define HONE_SKIP_WITHOUT(kind) \
  if (!IsHere(kind)) GTEST_SKIP() << "no " << (kind).device << " here; " << (kind).missing

}  // namespace hone::driver

#endif  // HONE_TESTS_COMPILER_DRIVER_DEVICE_HERE_H_
