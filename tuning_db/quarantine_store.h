// Quarantines, by which operators keep workers or devices from measuring until they release them.
#ifndef HONE_TUNING_DB_QUARANTINE_STORE_H_
#define HONE_TUNING_DB_QUARANTINE_STORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::tuning_db {

struct Quarantine {
  std::string worker;
  std::string device = "";  // empty: all devices of the worker
  std::string reason = "";  // for people
  std::string by = "";      // the operator
  int64_t at_ns = 0;        // since 1970

  friend bool operator==(const Quarantine&, const Quarantine&) = default;
};

// A part of Store; its comment (store.h) says what holds for every call.
class QuarantineStore {
 public:
  virtual ~QuarantineStore() = default;

  // Adds the quarantine, with at_ns by the store's clock, or replaces that of the same worker and
  // device. kInvalidArgument if it names no worker.
  virtual absl::StatusOr<Quarantine> SetQuarantine(const Quarantine& quarantine) = 0;
  // Ends the quarantine of the device; if `device` is empty, those of the worker and of each of its
  // devices. Returns those that ended, in the order of ListQuarantines; empty if there were none.
  virtual absl::StatusOr<std::vector<Quarantine>> EndQuarantines(const std::string& worker,
                                                                 const std::string& device) = 0;
  // All quarantines, sorted by worker and device.
  virtual absl::StatusOr<std::vector<Quarantine>> ListQuarantines() = 0;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_QUARANTINE_STORE_H_
