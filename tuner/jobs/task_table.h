// The tasks that jobs want now.
#ifndef HONE_TUNER_JOBS_TASK_TABLE_H_
#define HONE_TUNER_JOBS_TASK_TABLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "tuner/jobs/build_queue.h"
#include "tuner/jobs/loop_context.h"
#include "tuner/jobs/task_runner.h"

namespace hone::tuner {

// Not thread-safe. The context outlives it.
class TaskTable {
 public:
  using Runners = std::map<TaskKey, std::unique_ptr<TaskRunner>>;

  explicit TaskTable(LoopContext& loop) : loop_(loop) {}

  Runners& runners() { return runners_; }
  // nullptr: nobody wants it.
  TaskRunner* Find(const TaskKey& key);
  // Finds the task's runner, or makes one with what the store has of the task. A runner whose task
  // does not lower has a failure; an error is the store's.
  absl::StatusOr<TaskRunner*> Ensure(const tuning_db::JobTask& wanted);
  // Ensure takes these contexts instead of opening them again, until others are offered.
  void Offer(TaskContexts contexts) { offered_ = std::move(contexts); }
  // To be called when what was planned for a runner has been proposed. Returns the runner; nullptr
  // where it is gone, or takes up nothing any more.
  TaskRunner* EndPlanning(const TaskKey& key, uint64_t serial);
  // Drops the runners that are parked and have no trial with the measurer.
  void DropParked();

  // ---- devices ----
  // Looks which tasks connected devices serve now; returns whether that has changed for any.
  bool SeeDevices();
  // Passes the tasks that are in the table and whose target a device has.
  BuildQueue::Filter IsServed() const;
  bool IsMeasuring() const;
  bool IsMeasuringFinal() const;
  // Whether building and measuring must not overlap.
  bool Alternates() const;
  // Announces what the task waits for; empty: for nothing.
  void SetWaiting(TaskRunner& runner, const std::string& what) const;

 private:
  LoopContext& loop_;
  absl::StatusOr<std::shared_ptr<const TaskContext>> Open(const TaskKey& key,
                                                          const tuning_db::Task& task) const;

  Runners runners_;
  TaskContexts offered_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_TASK_TABLE_H_
