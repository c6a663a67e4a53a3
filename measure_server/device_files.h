// Finds the files by which drivers reach their devices, such as /dev/nvidiactl.
#ifndef HONE_MEASURE_SERVER_DEVICE_FILES_H_
#define HONE_MEASURE_SERVER_DEVICE_FILES_H_

#include <string>

namespace hone::measure {

// Lists those in the folder that this process may not both read and write, with their owners,
// groups and modes: "/dev/dri/renderD128 (root:render, mode 0660), /dev/kfd (root:render, mode
// 0660)". Empty if there are none.
std::string BarredDeviceFiles(const std::string& folder = "/dev");

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_DEVICE_FILES_H_
