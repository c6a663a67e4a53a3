// A task in the tuning loop as a state machine.
#ifndef HONE_TUNER_JOBS_TASK_STATE_H_
#define HONE_TUNER_JOBS_TASK_STATE_H_

#include "tuner/jobs/task_runner.h"

namespace hone::tuner {

// - searching: trials are open, or more of them are wanted. They are proposed, built and measured.
//   Next is final due or finished.
// - final due: a winner is wanted that no final names. The final begins. Next is final.
// - final: the task's final is built, measured and settled. Next is any of the three before, or
//   finished.
// - finished: nobody wants more of the task. Its artifacts are let go. Next is closed.
// - closed: the task was finished, or nobody could measure it. Nothing is done for it. Next is
//   searching, when a new job wants it.
// - parked: all who want the task are paused. What is measured settles. Next is searching, or the
//   task is gone.
// - failed: the task cannot be tuned, and says why. Nothing is done for it.
//
// A task waits in its state while no connected device has its target. It is dropped once nobody
// wants it. The state is derived from what is known of the task, all of which is in the store: it
// is stored nowhere itself, so a restarted daemon finds each task in the state where it was.
enum class TaskState { kSearching, kFinalDue, kFinal, kFinished, kClosed, kParked, kFailed };

TaskState StateOf(const TaskRunner& task);

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_TASK_STATE_H_
