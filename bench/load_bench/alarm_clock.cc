#include "bench/load_bench/alarm_clock.h"

#include <chrono>
#include <utility>

namespace hone::bench {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

int64_t SteadyNs() {
  return std::chrono::duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

AlarmClock::AlarmClock() : thread_([this] { Loop(); }) {}

AlarmClock::~AlarmClock() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void AlarmClock::At(int64_t due_ns, std::function<void()> work) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    const auto added = alarms_.emplace(due_ns, std::move(work));
    is_first = added == alarms_.begin();
  }
  if (is_first) changed_.notify_one();
}

void AlarmClock::Loop() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    if (alarms_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto first = alarms_.begin();
    if (first->first > SteadyNs()) {
      changed_.wait_until(lock, steady_clock::time_point(nanoseconds(first->first)));
      continue;
    }
    const std::function<void()> work = std::move(first->second);
    alarms_.erase(first);
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace hone::bench
