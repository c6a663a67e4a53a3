// Tells the watchers of a job that it has changed.
#ifndef HONE_TUNER_SERVICE_EVENT_HUB_H_
#define HONE_TUNER_SERVICE_EVENT_HUB_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "tuning_db/job_store.h"

namespace hone::tuner {

// Shares one subscription to the store among all watchers. Thread-safe. The store outlives it.
// Wakers are called from any thread and must not block, call this object, or call the store.
class EventHub {
 public:
  using Id = std::pair<int64_t, int64_t>;  // job, number

  explicit EventHub(tuning_db::JobStore& store)
      : subscription_(
            store.Subscribe([this](const tuning_db::Change& change) { Notify(change.job); })) {}

  Id Subscribe(int64_t job, std::function<void()> waker) {
    const std::lock_guard lock(mutex_);
    const Id id(job, ++last_);
    wakers_[id] = std::move(waker);
    return id;
  }
  // The waker is not running, and will not run, when this returns.
  void Unsubscribe(const Id& id) {
    const std::lock_guard lock(mutex_);
    wakers_.erase(id);
  }

 private:
  // Job 0: any may have changed.
  void Notify(int64_t job) {
    const std::lock_guard lock(mutex_);
    for (auto it = wakers_.lower_bound({job, 0});
         it != wakers_.end() && (job == 0 || it->first.first == job); ++it) {
      it->second();
    }
  }

  std::mutex mutex_;  // guards the next two
  int64_t last_ = 0;
  std::map<Id, std::function<void()>> wakers_;
  const std::unique_ptr<tuning_db::Subscription> subscription_;  // ends before what it uses
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_EVENT_HUB_H_
