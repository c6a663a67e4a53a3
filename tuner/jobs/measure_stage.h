// Has trials measured that are built, and finals whose finalists are.
#ifndef HONE_TUNER_JOBS_MEASURE_STAGE_H_
#define HONE_TUNER_JOBS_MEASURE_STAGE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "tuner/jobs/loop_context.h"
#include "tuner/jobs/task_table.h"
#include "tuner/jobs/trial_settler.h"
#include "tuner/measurer.h"

namespace hone::tuner {

// Not thread-safe. The objects given to the constructor outlive it.
class MeasureStage {
 public:
  // What the stage tells the loop; called on the loop's executor.
  struct Events {
    // The turn of the final has come.
    std::function<void(TaskRunner&)> final_ready;
    // Nothing came of the measurement: the open trial has to be built and measured again.
    std::function<void(TaskRunner&, const tuning_db::Trial&)> trial_lost;
    std::function<void(TaskRunner&, const std::string& why)> task_failed;
    // A measurement has ended, in whatever way.
    std::function<void()> changed;
  };

  MeasureStage(LoopContext& loop, TaskTable& tasks, TrialSettler& settler, Events events)
      : loop_(loop), tasks_(tasks), settler_(settler), events_(std::move(events)) {}

  // Queues the trial, which is built, to be measured.
  void Push(const TaskRunner& runner, const tuning_db::Trial& trial, Artifact artifact);
  // Queues the task's final, whose finalists are built, to be measured.
  void PushFinal(const TaskRunner& runner);
  // Waits for the result of a trial that a worker may have from before a restart.
  void Await(TaskRunner& runner, const tuning_db::Trial& trial);
  // Hands the measurer what may be measured now. `is_building` says whether there is other work
  // (building, planning) that alternates with measuring.
  void Dispatch(bool is_building);
  // Forgets what waits to be measured of this task.
  void Drop(const TaskKey& key);

  // Where building and measuring alternate, whether it is the turn of measuring.
  bool HasTurn() const { return has_turn_; }
  // The request for a measurement, with all that does not depend on what is measured.
  MeasureRequest RequestFor(const TaskRunner& runner, const tuning_db::Trial& trial) const;
  void EndMeasuring(const TaskKey& key, int64_t trial);

 private:
  struct Ready {
    TaskKey key;
    tuning_db::Trial trial;
    Artifact artifact;  // of a search trial; those of a final are with its run
  };

  void Measure(TaskRunner& runner, const tuning_db::Trial& trial, const Artifact& artifact);
  void TimeBeside(const Artifact& anchor, MeasureRequest& request) const;
  // The callback that the measurer is given; it may be called on any thread.
  MeasureCallback SettleWith(const TaskKey& key, const tuning_db::Trial& trial);
  void OnMeasured(const TaskKey& key, const tuning_db::Record& record, const std::string& failure);
  void OnLost(const TaskKey& key, int64_t trial);
  // The trial's job is another daemon's by now.
  void OnForeign(const TaskKey& key, int64_t trial);
  void OnSettledBefore(const TaskKey& key, int64_t trial);
  void OnPoison(const TaskKey& key, int64_t trial, const std::string& message);

  LoopContext& loop_;
  TaskTable& tasks_;
  TrialSettler& settler_;
  const Events events_;
  std::deque<Ready> queue_;
  bool has_turn_ = false;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_MEASURE_STAGE_H_
