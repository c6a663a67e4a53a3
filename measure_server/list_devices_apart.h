// Lists the devices of this machine without loading their drivers here.
#ifndef HONE_MEASURE_SERVER_LIST_DEVICES_APART_H_
#define HONE_MEASURE_SERVER_LIST_DEVICES_APART_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/listed_device.h"

namespace hone::measure {

struct DevicesHere {
  std::vector<ListedDevice> listed;
  // A sentence for each kind of device that there is none of: what is missing.
  std::vector<std::string> missing;
};

// Does what hone::ListDevices does, in a child process: drivers start threads, and may crash or
// hang, and
// nothing of what they start is left. To be called while the process has one thread. kUnavailable
// if the child has not answered by the limit, or has died.
absl::StatusOr<DevicesHere> ListDevicesApart(int64_t limit_ns);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_LIST_DEVICES_APART_H_
