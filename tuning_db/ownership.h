// Says who may write to a job (docs/decisions/0021).
#ifndef HONE_TUNING_DB_OWNERSHIP_H_
#define HONE_TUNING_DB_OWNERSHIP_H_

#include <cstdint>
#include <string>

namespace hone::tuning_db {

// A daemon in one of its lives, as JobStore::BeginEpoch gives it. Writes that carry it fail with
// kAborted once the job belongs to another. While a job is queued or paused, anybody may lease its
// trials, and nobody may propose new ones. Epoch 0 is not checked: tests and tools write with it
// while no daemon works on the store.
struct Ownership {
  std::string owner;  // the daemon's name, which stays the same over its lives
  int64_t epoch = 0;  // from a persisted counter: which of its lives
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_OWNERSHIP_H_
