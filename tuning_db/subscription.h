// A subscription to what is committed (JobStore::Subscribe).
#ifndef HONE_TUNING_DB_SUBSCRIPTION_H_
#define HONE_TUNING_DB_SUBSCRIPTION_H_

#include <cstdint>

namespace hone::tuning_db {

struct Change {
  // The job that has changed. 0: any job may have, because the store missed changes while it had no
  // connection to the database; read again what matters.
  int64_t job = 0;
};

// Ends when destroyed: once the destructor has returned, the callback is not running and will not
// run again. Must not outlive its store.
class Subscription {
 public:
  virtual ~Subscription() = default;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_SUBSCRIPTION_H_
