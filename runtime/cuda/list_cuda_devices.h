// Lists the devices of this machine by NVIDIA's driver.
#ifndef HONE_RUNTIME_CUDA_LIST_CUDA_DEVICES_H_
#define HONE_RUNTIME_CUDA_LIST_CUDA_DEVICES_H_

#include <string>
#include <vector>

#include "runtime/listed_device.h"

namespace hone::cuda {

// In the driver's order; none where there is no driver or it does not start.
std::vector<ListedDevice> ListDevices();

// The architecture of targets for a compute capability: "sm_90a" for 9.0. For one that is newer
// than those known it is the newest known, whose code the driver compiles for it.
std::string ArchOf(int major, int minor);

}  // namespace hone::cuda

#endif  // HONE_RUNTIME_CUDA_LIST_CUDA_DEVICES_H_
