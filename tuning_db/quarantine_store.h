// What operators said of workers and devices that measure nothing until they are released.
#ifndef HONE_TUNING_DB_QUARANTINE_STORE_H_
#define HONE_TUNING_DB_QUARANTINE_STORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::tuning_db {

struct Quarantine {
  std::string worker;
  std::string device = "";  // empty: all of the worker's
  std::string reason = "";  // for people
  std::string by = "";      // who said it
  int64_t at_ns = 0;        // since 1970

  friend bool operator==(const Quarantine&, const Quarantine&) = default;
};

// A part of Store, whose comment says what holds for every call.
class QuarantineStore {
 public:
  virtual ~QuarantineStore() = default;

  // Stamps it with the store's clock, and replaces what was said of the same worker and device.
  // kInvalidArgument without a worker.
  virtual absl::StatusOr<Quarantine> SetQuarantine(const Quarantine& quarantine) = 0;
  // Ends that of the device; without a device, that of the worker and of each of its devices.
  // Returns those that ended, as ListQuarantines has them; none where there was none.
  virtual absl::StatusOr<std::vector<Quarantine>> EndQuarantines(const std::string& worker,
                                                                 const std::string& device) = 0;
  // By worker and device.
  virtual absl::StatusOr<std::vector<Quarantine>> ListQuarantines() = 0;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_QUARANTINE_STORE_H_
