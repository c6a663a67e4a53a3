// Which task gets the next batch.
#ifndef HONE_TUNER_TASK_SCHEDULER_TASK_SCHEDULER_H_
#define HONE_TUNER_TASK_SCHEDULER_TASK_SCHEDULER_H_

#include <cstdint>
#include <memory>
#include <vector>

namespace hone::tuner {

// A task that could take a batch now.
struct TaskView {
  // How many trials its submitter has open for the same devices, divided by the weight of its
  // priority. The least goes first, so that submitters share the devices whatever the number of
  // their jobs (decision 25).
  double share = 0;
  // When its submitter last had a batch, as the number of that batch; 0: never. Among equal shares
  // the longest ago goes first.
  uint64_t submitter_turn = 0;
  int priority = 0;  // of the job; greater goes first
  // As submitter_turn, of its job. Among jobs of one priority the longest ago goes first, so that
  // none waits until another has nothing more to gain (decision 49).
  uint64_t job_turn = 0;
  double weight = 1;           // calls of the kernel in the job's models
  int64_t trials = 0;          // proposed so far
  int64_t open = 0;            // of these, not settled
  double best_ns = 0;          // 0: nothing was measured yet
  double earlier_best_ns = 0;  // before the newest batch; 0: nothing was measured then
};

// The order matters for what a job has gained when it ends early; otherwise budgets are spent in
// full anyway. Not thread-safe.
class TaskScheduler {
 public:
  virtual ~TaskScheduler() = default;
  // An index into `tasks`, which is not empty.
  virtual size_t Pick(const std::vector<TaskView>& tasks) = 0;
};

// Picks the submitter with the least share, of its jobs those of the greatest priority, and of
// these the one whose turn it is. Among the tasks of that job it goes round-robin until every task
// was measured; then it picks the task with the greatest weight x best time x expected gain. The
// expected gain is what the task's newest batch gained, and at least a little.
std::unique_ptr<TaskScheduler> MakeGainScheduler();

}  // namespace hone::tuner

#endif  // HONE_TUNER_TASK_SCHEDULER_TASK_SCHEDULER_H_
