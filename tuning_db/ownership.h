// Says who may write what belongs to a job (docs/decisions/0021).
#ifndef HONE_TUNING_DB_OWNERSHIP_H_
#define HONE_TUNING_DB_OWNERSHIP_H_

#include <cstdint>
#include <string>

namespace hone::tuning_db {

// A daemon in one of its lives, as JobStore::BeginEpoch gives it. Writes that carry it fail with
// kAborted where the job is another's by now. The trials of a job that does not run for now (it is
// queued or paused) may be leased by all who want them, and are added by nobody. Epoch 0 is
// nobody's and is not checked: tests and tools write so, where no daemon works on the store.
struct Ownership {
  std::string owner;  // the daemon's name, which stays the same over its lives
  int64_t epoch = 0;  // from a persisted counter: which of its lives
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_OWNERSHIP_H_
