// The OpenCL devices of this machine.
#ifndef HONE_RUNTIME_OPENCL_LIST_DEVICES_H_
#define HONE_RUNTIME_OPENCL_LIST_DEVICES_H_

#include <string_view>
#include <vector>

#include "runtime/listed_device.h"
#include "runtime/opencl/api.h"

namespace hone::opencl {

// All devices of all platforms, in the loader's order. A device's index is its number in names such
// as "opencl:1".
std::vector<cl_device_id> AllDevices(const Api& api);

// The same with their names and targets. Empty if there is no OpenCL on this machine.
std::vector<ListedDevice> ListDevices();

// The value of -device in a device's target: vendor and name in lower case, joined by a hyphen, or
// the name alone if it begins with the vendor's first word. Every device of the platform PoCL has
// the value "pocl". The parameters are what the driver reports.
std::string FamilyOf(std::string_view platform, std::string_view vendor, std::string_view name);

}  // namespace hone::opencl

#endif  // HONE_RUNTIME_OPENCL_LIST_DEVICES_H_
