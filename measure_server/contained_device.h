// A device behind a driver, with the processes that measure on it.
#ifndef HONE_MEASURE_SERVER_CONTAINED_DEVICE_H_
#define HONE_MEASURE_SERVER_CONTAINED_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "measure_server/driver_files.h"
#include "measure_server/zygote.h"

namespace hone::measure {

// Owns the zygote and the folder of its driver's files. Movable.
class ContainedDevice {
 public:
  // `name` is as hone::FindDevice takes it. Call this while the process has one thread.
  static absl::StatusOr<ContainedDevice> Start(const std::string& name);

  // Checks that a process with the user and the sandbox of candidates can open the device within
  // the limit. If it cannot, kUnavailable says why.
  absl::Status CheckOpens(int64_t limit_ns) const;
  Zygote* zygote() const { return zygote_.get(); }

 private:
  ContainedDevice(std::string name, DriverFiles files, std::unique_ptr<Zygote> zygote)
      : name_(std::move(name)), files_(std::move(files)), zygote_(std::move(zygote)) {}

  std::string name_;
  DriverFiles files_;  // they outlive the zygote
  std::unique_ptr<Zygote> zygote_;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_CONTAINED_DEVICE_H_
