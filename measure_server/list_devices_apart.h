// Lists the devices of this machine without loading their drivers here.
#ifndef HONE_MEASURE_SERVER_LIST_DEVICES_APART_H_
#define HONE_MEASURE_SERVER_LIST_DEVICES_APART_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/listed_device.h"

namespace hone::measure {

// Does what hone::ListDevices does in a child process, since drivers start threads, and may crash
// or hang. Call it while the process has one thread. kUnavailable if the child dies, or has not
// answered after `limit_ns`.
absl::StatusOr<std::vector<ListedDevice>> ListDevicesApart(int64_t limit_ns);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_LIST_DEVICES_APART_H_
