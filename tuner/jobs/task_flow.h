// Takes tasks from state to state (task_state.h) through the stages.
#ifndef HONE_TUNER_JOBS_TASK_FLOW_H_
#define HONE_TUNER_JOBS_TASK_FLOW_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tuner/jobs/build_stage.h"
#include "tuner/jobs/final_stage.h"
#include "tuner/jobs/loop_context.h"
#include "tuner/jobs/measure_stage.h"
#include "tuner/jobs/search_stage.h"
#include "tuner/jobs/task_runner.h"
#include "tuner/jobs/task_table.h"
#include "tuner/jobs/trial_proposer.h"
#include "tuner/jobs/trial_settler.h"

namespace hone::tuner {

// Stages know their own work and not who goes on with it: this class connects them. Not
// thread-safe. The context and the jobs outlive it.
class TaskFlow {
 public:
  // What it tells the loop; called on the loop's executor.
  struct Events {
    // Something came of what was under way.
    std::function<void()> changed;
    // Trials are open that no task has taken up.
    std::function<void()> orphaned;
  };

  TaskFlow(LoopContext& loop, ActiveJobs& jobs, Events events);

  TaskTable& tasks() { return tasks_; }
  // Begins everything that can be done for the tasks now.
  void Advance();
  // Takes up an open trial of the store: builds it, or waits for the worker that may have it.
  void Adopt(TaskRunner& runner, const tuning_db::Trial& trial);
  // Sees to it that a leased trial of a parked task, for which nobody here waits, is settled or
  // released in time. The lease is from an earlier life of the daemon.
  absl::Status AwaitParked(const tuning_db::Trial& trial);
  // Settles an open trial that no task has taken up, as cancelled.
  void CancelTrial(const tuning_db::Trial& trial, const std::string& why);

  // ---- ends ----
  // Closes, without a final, the tasks that have neither time nor a device. Returns whether there
  // were any.
  bool CloseStranded(int64_t now_ns);
  // Settles as cancelled what no device holds of the tasks whose jobs' time is up, so that their
  // finals need not wait for it: some of it, until nothing is left. Returns whether there was any.
  bool CancelLate(int64_t now_ns);
  // Settles all open trials of the task as cancelled.
  void Abandon(TaskRunner& runner, const std::string& why);
  // Parks the tasks: trials that devices may have begun are still settled; all others stay in the
  // store as they are until a job wants the task again.
  void Park(const std::vector<TaskKey>& keys);

 private:
  // The events that every kind of stage has; the next four functions add those of one kind.
  template <typename Stage>
  typename Stage::Events EventsOf();
  BuildStage::Events OfBuilds();
  MeasureStage::Events OfMeasures();
  FinalStage::Events OfFinals();
  SearchStage::Events OfSearches();

  void Park(TaskRunner& runner, const std::set<int64_t>& leased);
  // Does what the task's state asks for.
  void Advance(TaskRunner& runner);
  // Whether the builders are to leave the cores to measurements.
  bool BuildersRest() const;
  static void Close(TaskRunner& runner);
  void FailTask(TaskRunner& runner, const std::string& what);

  LoopContext& loop_;
  ActiveJobs& jobs_;
  int64_t next_late_ns_ = 0;  // when CancelLate looks again
  const Events events_;
  TaskTable tasks_;
  TrialProposer proposer_;
  TrialSettler settler_;
  BuildStage builds_;
  MeasureStage measures_;
  FinalStage finals_;
  SearchStage searches_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_TASK_FLOW_H_
