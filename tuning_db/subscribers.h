// The subscribers of one store in this process, who are told what was committed.
#ifndef HONE_TUNING_DB_SUBSCRIBERS_H_
#define HONE_TUNING_DB_SUBSCRIBERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "tuning_db/subscription.h"

namespace hone::tuning_db {

// Thread-safe. Must outlive the subscriptions that it returns.
class Subscribers {
 public:
  std::unique_ptr<Subscription> Add(std::function<void(const Change&)> on_change);
  void Tell(const Change& change);

 private:
  class Entry;

  std::mutex mutex_;  // guards all below, also while callbacks run
  int64_t last_ = 0;
  std::map<int64_t, std::function<void(const Change&)>> callbacks_;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_SUBSCRIBERS_H_
