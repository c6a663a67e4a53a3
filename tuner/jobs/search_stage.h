// Decides what is tried next: searches plan batches of trials, which are proposed to the store.
#ifndef HONE_TUNER_JOBS_SEARCH_STAGE_H_
#define HONE_TUNER_JOBS_SEARCH_STAGE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/jobs/batch_plan.h"
#include "tuner/jobs/batch_turns.h"
#include "tuner/jobs/loop_context.h"
#include "tuner/jobs/task_runner.h"
#include "tuner/jobs/task_table.h"
#include "tuner/jobs/trial_proposer.h"
#include "tuner/jobs/trial_settler.h"

namespace hone::tuner {

// Not thread-safe. The objects given to the constructor outlive it.
class SearchStage {
 public:
  // What the stage tells the loop; called on the loop's executor.
  struct Events {
    // The trial is open; its task has to take it up.
    std::function<void(TaskRunner&, const tuning_db::Trial&)> proposed;
    // Trials are open, but their task was given up or parked while they were being proposed.
    std::function<void()> orphaned;
    std::function<void(TaskRunner&, const std::string& why)> task_failed;
    std::function<void()> changed;
  };

  SearchStage(LoopContext& loop, TaskTable& tasks, ActiveJobs& jobs, TrialProposer& proposer,
              TrialSettler& settler, Events events)
      : loop_(loop),
        tasks_(tasks),
        jobs_(jobs),
        proposer_(proposer),
        settler_(settler),
        events_(std::move(events)) {}

  // Has batches planned until there are as many open trials as the devices can use.
  void ProposeMore();
  bool IsPlanning() const { return planning_ > 0; }

 private:
  // A batch whose search is done.
  struct PlannedBatch {
    TaskKey key;
    uint64_t serial = 0;  // of its runner
    int64_t job = 0;
    int64_t begin = 0;  // how many trials there were before it
    BatchPlan plan;
  };

  // How many trials may be open for devices that meet the need.
  int64_t MostOpen(const DeviceNeed& need) const;
  bool CanPropose(const TaskRunner& runner) const;
  // The task whose turn it is; nullptr: none can take a batch now.
  TaskRunner* Choose();
  void Plan(TaskRunner& runner);
  void OnPlanned(PlannedBatch batch);
  void OnProposed(const PlannedBatch& batch, const std::vector<tuning_db::Trial>& rows);

  LoopContext& loop_;
  TaskTable& tasks_;
  ActiveJobs& jobs_;
  TrialProposer& proposer_;
  TrialSettler& settler_;
  const Events events_;
  BatchTurns turns_;
  int planning_ = 0;  // batches that are being planned or proposed
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_SEARCH_STAGE_H_
