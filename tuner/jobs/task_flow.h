// The way of tasks through the stages: from state to state (task_state.h).
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

// Stages know their work and nobody who goes on with it: this is where they hang together. Not
// thread-safe. The context and the jobs outlive it.
class TaskFlow {
 public:
  // Whom it tells, on the loop's executor.
  struct Events {
    // Something came of what was under way.
    std::function<void()> changed;
    // Trials are open that no task has taken up.
    std::function<void()> orphaned;
  };

  TaskFlow(LoopContext& loop, ActiveJobs& jobs, Events events);

  TaskTable& tasks() { return tasks_; }
  // Everything that can be done for the tasks now is begun.
  void Advance();
  // Takes up an open trial of the store: builds it, or waits for the worker that may have it.
  void Adopt(TaskRunner& runner, const tuning_db::Trial& trial);
  // Sees to it that a leased trial of a parked task, which nobody here waits for, is settled or
  // released in time: the lease is of an earlier life of the daemon.
  absl::Status AwaitParked(const tuning_db::Trial& trial);
  // Settles an open trial that no task has, as cancelled.
  void CancelTrial(const tuning_db::Trial& trial, const std::string& why);

  // ---- ends ----
  // Tasks that have neither time nor device are closed without a final. Whether there were any.
  bool CloseStranded(int64_t now_ns);
  // What is open of the task is settled as cancelled.
  void Abandon(TaskRunner& runner, const std::string& why);
  // What devices may have begun of these is settled; the rest stays in the store as it is until a
  // job wants the task again.
  void Park(const std::vector<TaskKey>& keys);

 private:
  // What a stage of any kind tells; the next four add what its kind does besides.
  template <typename Stage>
  typename Stage::Events EventsOf();
  BuildStage::Events OfBuilds();
  MeasureStage::Events OfMeasures();
  FinalStage::Events OfFinals();
  SearchStage::Events OfSearches();

  void Park(TaskRunner& runner, const std::set<int64_t>& leased);
  // Does what the task's state asks for.
  void Advance(TaskRunner& runner);
  // Whether the builders leave the cores to what is measured.
  bool BuildersRest() const;
  static void Close(TaskRunner& runner);
  void FailTask(TaskRunner& runner, const std::string& what);

  LoopContext& loop_;
  ActiveJobs& jobs_;
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
