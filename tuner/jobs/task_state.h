// A task in the tuning loop as a state machine.
#ifndef HONE_TUNER_JOBS_TASK_STATE_H_
#define HONE_TUNER_JOBS_TASK_STATE_H_

#include "tuner/jobs/task_runner.h"

namespace hone::tuner {

// | state     | what holds                                  | what is done             | next |
// |-----------|---------------------------------------------|--------------------------|------|
// | searching | trials are open, or more of them are wanted | propose, build, measure  | final due,
// finished | | final due | a winner is wanted that no final names      | the final begins         |
// final | | final     | its final is built or measured              | build, measure, settle   |
// any of the three before, finished | | finished  | nobody wants more of it                     |
// artifacts are let go     | closed | | closed    | it was finished, or nobody could measure it |
// nothing                  | searching (a new job wants it) | | parked    | all who want it are
// paused                  | what is measured settles | searching, gone | | failed    | it cannot be
// tuned, and says why            | nothing                  | gone |
//
// A task waits in its state while no connected device has its target. It is gone once nobody wants
// it. The state is derived from what is known of the task, which follows from the store: it is kept
// nowhere, so a daemon that comes back finds each task where it was.
enum class TaskState { kSearching, kFinalDue, kFinal, kFinished, kClosed, kParked, kFailed };

TaskState StateOf(const TaskRunner& task);

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_TASK_STATE_H_
