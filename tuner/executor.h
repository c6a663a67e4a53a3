// Where work runs. Every part of the tuner that has state has an executor of its own and touches
// its state only there, so it needs no locks. Tests run the same parts on executors that they step
// themselves.
#ifndef HONE_TUNER_EXECUTOR_H_
#define HONE_TUNER_EXECUTOR_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace hone::tuner {

// Thread-safe.
class Executor {
 public:
  virtual ~Executor() = default;
  // Runs `work` later, after everything posted before it; never inside Post.
  virtual void Post(std::function<void()> work) = 0;
};

// One thread. Its destructor drops what has not begun and joins the thread.
class ThreadExecutor : public Executor {
 public:
  ThreadExecutor();
  ~ThreadExecutor() override;
  ThreadExecutor(const ThreadExecutor&) = delete;
  ThreadExecutor& operator=(const ThreadExecutor&) = delete;

  void Post(std::function<void()> work) override;
  // How many functions were posted and have not begun.
  size_t size();
  // Returns when everything posted before has run. Not from the executor's own thread.
  void Drain();
  // Drops what was posted and has not begun, and whatever is posted later; joins the thread.
  void Stop();

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

// Calls `tick` every `interval_ms` on a thread of its own, until it is destroyed.
class Ticker {
 public:
  Ticker(int interval_ms, std::function<void()> tick);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_EXECUTOR_H_
