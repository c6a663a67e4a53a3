// Tells who watches a job that it has new events.
#ifndef HONE_TUNER_SERVICE_EVENT_HUB_H_
#define HONE_TUNER_SERVICE_EVENT_HUB_H_

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace hone::tuner {

// Thread-safe. Wakers are called from Notify and must not block or call back.
class EventHub {
 public:
  using Id = std::pair<int64_t, int64_t>;  // job, number

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
  void Notify(int64_t job) {
    const std::lock_guard lock(mutex_);
    for (auto it = wakers_.lower_bound({job, 0}); it != wakers_.end() && it->first.first == job;
         ++it) {
      it->second();
    }
  }

 private:
  std::mutex mutex_;
  int64_t last_ = 0;
  std::map<Id, std::function<void()>> wakers_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_EVENT_HUB_H_
