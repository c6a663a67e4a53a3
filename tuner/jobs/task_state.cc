#include "tuner/jobs/task_state.h"

namespace hone::tuner {

TaskState StateOf(const TaskRunner& task) {
  if (!task.failure.empty()) return TaskState::kFailed;
  if (!task.IsWanted()) return TaskState::kParked;
  if (task.closed) return TaskState::kClosed;
  if (task.final_run) return TaskState::kFinal;
  if (task.planning || !task.open.empty() || task.history.open() > 0) return TaskState::kSearching;
  // A final that an earlier life of the daemon began is ended first: its entries follow from what
  // was settled then.
  if (task.open_confirm) return TaskState::kFinalDue;
  if (task.WhoWantsMore() != nullptr) return TaskState::kSearching;
  return task.NeedsFinal() ? TaskState::kFinalDue : TaskState::kFinished;
}

}  // namespace hone::tuner
