// What is tried next: batches of trials, planned by searches and proposed to the store.
#ifndef HONE_TUNER_JOBS_SEARCH_STAGE_H_
#define HONE_TUNER_JOBS_SEARCH_STAGE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/jobs/batch_plan.h"
#include "tuner/jobs/loop_context.h"
#include "tuner/jobs/task_runner.h"
#include "tuner/jobs/task_table.h"
#include "tuner/jobs/trial_proposer.h"
#include "tuner/jobs/trial_settler.h"

namespace hone::tuner {

// Not thread-safe. The objects given to the constructor outlive it.
class SearchStage {
 public:
  // Whom it tells, on the loop's executor.
  struct Events {
    // The trial is open, and its task is to take it up.
    std::function<void(TaskRunner&, const tuning_db::Trial&)> proposed;
    // Trials are open whose task was given up, or is parked, while they were proposed.
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

  // Has batches planned, as many as the devices are worth.
  void ProposeMore();
  bool IsPlanning() const { return planning_ > 0; }

 private:
  // A batch whose search is done.
  struct PlannedBatch {
    TaskKey key;
    uint64_t serial = 0;  // of its runner
    int64_t job = 0;
    int64_t begin = 0;  // trials that there were
    BatchPlan plan;
  };

  // Open trials that the devices for it are worth.
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
  int planning_ = 0;  // batches that are planned or proposed
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_SEARCH_STAGE_H_
