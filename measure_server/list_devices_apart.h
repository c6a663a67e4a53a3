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
  // For each kind of device of which this machine has none, a sentence that says what is missing.
  std::vector<std::string> missing;
};

// Does what hone::ListDevices does, but in a child process, because drivers start threads and may
// crash or hang. All that they started has ended when this returns. Call it while the process has
// one thread. kUnavailable if the child has not answered after `limit_ns`, or has died.
absl::StatusOr<DevicesHere> ListDevicesApart(int64_t limit_ns);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_LIST_DEVICES_APART_H_
