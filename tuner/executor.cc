#include "tuner/executor.h"

#include <chrono>
#include <future>
#include <utility>

namespace hone::tuner {

ThreadExecutor::ThreadExecutor() : thread_([this] { Loop(); }) {}

ThreadExecutor::~ThreadExecutor() { Stop(); }

void ThreadExecutor::Post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    queue_.push_back(std::move(work));
  }
  wake_.notify_one();
}

size_t ThreadExecutor::size() {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

void ThreadExecutor::Drain() {
  auto reached = std::make_shared<std::promise<void>>();
  std::future<void> future = reached->get_future();
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    queue_.push_back([reached] { reached->set_value(); });
  }
  reached.reset();  // a dropped task breaks the promise, which ends the wait too
  wake_.notify_one();
  future.wait();
}

void ThreadExecutor::Stop() {
  std::deque<std::function<void()>> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ThreadExecutor::Loop() {
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

Ticker::Ticker(int interval_ms, std::function<void()> tick)
    : thread_([this, interval_ms, tick = std::move(tick)] {
        std::unique_lock lock(mutex_);
        while (!wake_.wait_for(lock, std::chrono::milliseconds(interval_ms),
                               [this] { return stopping_; })) {
          lock.unlock();
          tick();
          lock.lock();
        }
      }) {}

Ticker::~Ticker() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

}  // namespace hone::tuner
