// Being told what was committed (JobStore::Subscribe).
#ifndef HONE_TUNING_DB_SUBSCRIPTION_H_
#define HONE_TUNING_DB_SUBSCRIPTION_H_

#include <cstdint>

namespace hone::tuning_db {

struct Change {
  // The job that has changed. 0: any may have, for the store was not told everything for a while
  // (it lost its connection to the database): read again what matters.
  int64_t job = 0;
};

// Ends when it is destroyed: its callback is not running and will not run once that has returned.
// It must not outlive its store.
class Subscription {
 public:
  virtual ~Subscription() = default;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_SUBSCRIPTION_H_
