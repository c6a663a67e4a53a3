// The cores and the priority of the process that checks candidates.
#ifndef HONE_MEASURE_SERVER_MEASURED_CORES_H_
#define HONE_MEASURE_SERVER_MEASURED_CORES_H_

#include <sched.h>

namespace hone::measure {

// Real-time priorities, used if the system allows them, so that nothing else on their cores
// disturbs candidates, and candidates cannot hold up the process that watches them. A child that
// the watcher forks starts without one.
inline constexpr int kCandidatePriority = 1;
inline constexpr int kWatcherPriority = 2;

// Takes kWatcherPriority for this thread. False if the system does not allow it; nothing has then
// changed.
bool TakeWatcherPriority();

// Gives the calling thread back the cores that it might use before.
class MovedThread {
 public:
  MovedThread(const MovedThread&) = delete;
  MovedThread& operator=(const MovedThread&) = delete;

 protected:
  MovedThread() = default;
  ~MovedThread();
  // Remembers the thread's cores. False if they are not known; the thread is then not to be moved.
  bool Remember();

  bool is_moved_ = false;

 private:
  cpu_set_t before_;
};

// While this object lives, the calling thread runs on the last `threads` cores that it may use,
// which are those of the candidate, and leaves the other cores to builders. The candidate waits
// while this thread runs. Without the priority of a watcher the thread does not move, because a
// candidate that does not wait would keep it from running.
class OnMeasuredCores : MovedThread {
 public:
  explicit OnMeasuredCores(int threads);
};

// While this object lives, the calling thread, and those that it starts, run on the other cores
// that it may use, not on the last `threads`. If there are no others, or with 0, it changes
// nothing.
class OffMeasuredCores : MovedThread {
 public:
  explicit OffMeasuredCores(int threads);
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_MEASURED_CORES_H_
