// Posts work to an executor until its receiver is gone.
#ifndef HONE_TUNER_MAILBOX_H_
#define HONE_TUNER_MAILBOX_H_

#include <functional>
#include <mutex>
#include <utility>

#include "tuner/executor.h"

namespace hone::tuner {

// For callbacks from other threads that may come after their receiver is gone. The receiver and
// those who call it back share the mailbox; the receiver closes it. Thread-safe.
class Mailbox {
 public:
  explicit Mailbox(Executor* executor) : executor_(executor) {}

  // Once the mailbox is closed, what is posted is dropped.
  void Post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    if (executor_ != nullptr) executor_->Post(std::move(work));
  }
  void Close() {
    const std::lock_guard lock(mutex_);
    executor_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Executor* executor_;  // nullptr: closed
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_MAILBOX_H_
