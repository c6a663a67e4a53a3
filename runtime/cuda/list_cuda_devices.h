// The NVIDIA GPUs of this machine, as their driver lists them.
#ifndef HONE_RUNTIME_CUDA_LIST_CUDA_DEVICES_H_
#define HONE_RUNTIME_CUDA_LIST_CUDA_DEVICES_H_

#include <string>
#include <vector>

#include "runtime/listed_device.h"

namespace hone::cuda {

// The GPUs that Hone can make code for (Volta and later), in the driver's order. Empty if there is
// no driver or it does not start.
std::vector<ListedDevice> ListDevices();

// The -arch of targets for a compute capability: "sm_90a" for 9.0. A capability that Hone does not
// know gets the newest known one below it, since the driver compiles its code for newer GPUs too.
std::string ArchOf(int major, int minor);

}  // namespace hone::cuda

#endif  // HONE_RUNTIME_CUDA_LIST_CUDA_DEVICES_H_
