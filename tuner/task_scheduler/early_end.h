// Whether more trials of a task are worth their time (docs/decisions/0016).
#ifndef HONE_TUNER_TASK_SCHEDULER_EARLY_END_H_
#define HONE_TUNER_TASK_SCHEDULER_EARLY_END_H_

#include <vector>

namespace hone::tuner {

// A task whose trials are all settled.
struct SearchSoFar {
  // The part of the models' time that all calls of the task take with its default config; 0 to 1.
  double share = 1;
  // The ranked time of each trial, in the order in which they were proposed; 0: a failure. The
  // first trial is the default's.
  std::vector<double> times;
};

// The part by which the next `batch` trials are expected to shorten the task's best time.
double ExpectedGain(const std::vector<double>& times, int batch);

// Whether the next `batch` trials are expected to shorten the models' time by enough. A pure
// function: a restarted daemon decides alike.
bool IsWorthMore(const SearchSoFar& search, int batch);

}  // namespace hone::tuner

#endif  // HONE_TUNER_TASK_SCHEDULER_EARLY_END_H_
