// The OpenCL devices of this machine.
#ifndef HONE_RUNTIME_OPENCL_LIST_DEVICES_H_
#define HONE_RUNTIME_OPENCL_LIST_DEVICES_H_

#include <string_view>
#include <vector>

#include "runtime/listed_device.h"
#include "runtime/opencl/api.h"

namespace hone::opencl {

// All devices of all platforms, in the loader's order; a device's number is its index.
std::vector<cl_device_id> AllDevices(const Api& api);

// The same with their names and targets. Empty if there is no OpenCL on this machine.
std::vector<ListedDevice> ListDevices();

// The value of -device in the targets of a device: the family's name after the vendor's, in lower
// case, unless it has it already; "pocl" for a processor behind PoCL, whichever it is. The
// parameters are what the driver reports.
std::string FamilyOf(std::string_view platform, std::string_view vendor, std::string_view name);

}  // namespace hone::opencl

#endif  // HONE_RUNTIME_OPENCL_LIST_DEVICES_H_
