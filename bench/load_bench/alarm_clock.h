// A thread that runs functions at the times at which they are due.
#ifndef HONE_BENCH_LOAD_BENCH_ALARM_CLOCK_H_
#define HONE_BENCH_LOAD_BENCH_ALARM_CLOCK_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace hone::bench {

// Nanoseconds of the steady clock.
int64_t SteadyNs();

// Thread-safe. Functions that have not begun when the clock is destroyed never run.
class AlarmClock {
 public:
  AlarmClock();
  ~AlarmClock();
  AlarmClock(const AlarmClock&) = delete;
  AlarmClock& operator=(const AlarmClock&) = delete;

  // Runs `work` on the clock's thread once SteadyNs() has reached `due_ns`.
  void At(int64_t due_ns, std::function<void()> work);

 private:
  void Loop();

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::multimap<int64_t, std::function<void()>> alarms_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_LOAD_BENCH_ALARM_CLOCK_H_
