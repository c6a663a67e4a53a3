// Where and with what priority the process that checks candidates runs, beside theirs.
#ifndef HONE_MEASURE_SERVER_MEASURED_CORES_H_
#define HONE_MEASURE_SERVER_MEASURED_CORES_H_

#include <sched.h>

namespace hone::measure {

// Priorities of real-time threads, where the system allows them: candidates are not disturbed by
// anything else on their cores, and cannot keep away who watches them. Children start without.
inline constexpr int kCandidatePriority = 1;
inline constexpr int kWatcherPriority = 2;

// False: the system does not allow it, and nothing has changed.
bool TakeWatcherPriority();

// While this object lives, the calling thread runs on the last `threads` cores that it may use,
// which are also the candidate's; the other cores are left to builders. The candidate waits while
// this thread runs. Without the priority of a watcher the thread does not move, because a candidate
// that does not wait would keep it from running.
class OnMeasuredCores {
 public:
  explicit OnMeasuredCores(int threads);
  ~OnMeasuredCores();
  OnMeasuredCores(const OnMeasuredCores&) = delete;
  OnMeasuredCores& operator=(const OnMeasuredCores&) = delete;

 private:
  cpu_set_t before_;
  bool is_moved_ = false;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_MEASURED_CORES_H_
