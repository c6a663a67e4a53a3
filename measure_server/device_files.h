// The files by which drivers reach their devices.
#ifndef HONE_MEASURE_SERVER_DEVICE_FILES_H_
#define HONE_MEASURE_SERVER_DEVICE_FILES_H_

#include <string>

namespace hone::measure {

// Those in the folder that this process's user may not read and write, with who may:
// "/dev/dri/renderD128 (root:render, mode 0660), /dev/kfd (root:render, mode 0660)"; empty: none.
std::string BarredDeviceFiles(const std::string& folder = "/dev");

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_DEVICE_FILES_H_
