#include "tests/farm_simulator/event_queue.h"

#include <algorithm>
#include <utility>

namespace hone::sim {

void EventQueue::After(int64_t delay_ns, std::function<void()> what) {
  entries_.push({now_ns_ + std::max<int64_t>(delay_ns, 0), random_.Next(), std::move(what)});
}

void EventQueue::After(int64_t delay_ns, const std::shared_ptr<Life>& life,
                       std::function<void()> what) {
  After(delay_ns, [life, what = std::move(what)] {
    if (!life->is_over()) what();
  });
}

bool EventQueue::RunOne() {
  if (entries_.empty()) return false;
  // top() is const, but the entry is popped at once.
  Entry entry = std::move(const_cast<Entry&>(entries_.top()));
  entries_.pop();
  now_ns_ = entry.at_ns;
  entry.what();
  return true;
}

void SimExecutor::Post(std::function<void()> work) {
  works_.push_back(std::move(work));
  queue_->After(queue_->Between(1'000, 20'000), life_, [this] {
    const std::function<void()> next = std::move(works_.front());
    works_.pop_front();
    next();
  });
}

}  // namespace hone::sim
