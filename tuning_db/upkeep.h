// What keeps a tuning database sound.
#ifndef HONE_TUNING_DB_UPKEEP_H_
#define HONE_TUNING_DB_UPKEEP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hone::tuning_db {

// Of Store, whose comment says what holds for every call.
class Upkeep {
 public:
  virtual ~Upkeep() = default;

  // Everything that does not hold, in sentences; empty when the store is sound.
  virtual absl::StatusOr<std::vector<std::string>> Check() = 0;

  // The record counts for nothing from now on, and is still there: a row beside it says why. To
  // retract it again changes nothing. kInvalidArgument without a reason.
  virtual absl::Status Retract(int64_t record, const std::string& reason) = 0;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_UPKEEP_H_
