// Whether more trials of a task are worth their time (docs/decisions/0016).
#ifndef HONE_TUNER_TASK_SCHEDULER_EARLY_END_H_
#define HONE_TUNER_TASK_SCHEDULER_EARLY_END_H_

#include <vector>

namespace hone::tuner {

// A task whose trials are all settled.
struct SearchSoFar {
  // The part of the models' time that all calls of the task take with its default config; 0 to 1.
  double share = 1;
  // What each trial counts as, in the order in which they were proposed; 0: a failure. The first is
  // the default's.
  std::vector<double> times;
};

// What the next `batch` trials are expected to take off the task's best time, as a part of it.
double ExpectedGain(const std::vector<double>& times, int batch);

// Whether the next `batch` trials promise enough of the models' time. A pure function: a daemon
// that was killed decides alike.
bool IsWorthMore(const SearchSoFar& search, int batch);

}  // namespace hone::tuner

#endif  // HONE_TUNER_TASK_SCHEDULER_EARLY_END_H_
