// Has artifacts built: the reference and the anchor of a task once, then its trials, then the
// finalists of its final.
#ifndef HONE_TUNER_JOBS_BUILD_STAGE_H_
#define HONE_TUNER_JOBS_BUILD_STAGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "hone/v1/builder.pb.h"
#include "tuner/jobs/build_queue.h"
#include "tuner/jobs/loop_context.h"
#include "tuner/jobs/task_table.h"

namespace hone::tuner {

// Not thread-safe. The objects given to the constructor outlive it.
class BuildStage {
 public:
  // What the stage tells the loop; called on the loop's executor.
  struct Events {
    // The trial is built, is open and can be measured.
    std::function<void(TaskRunner&, const tuning_db::Trial&, Artifact)> trial_built;
    // The trial's build failed, and the candidate is to blame.
    std::function<void(const tuning_db::Trial&, tuning_db::Outcome, const std::string& message,
                       const std::string& toolchain)>
        trial_failed;
    // The finalists that could be built are in the FinalRun. Not called where nothing had to be
    // built.
    std::function<void(TaskRunner&)> finalists_built;
    std::function<void(TaskRunner&, const std::string& why)> task_failed;
    // A build has ended, in whatever way.
    std::function<void()> changed;
  };

  BuildStage(LoopContext& loop, TaskTable& tasks, Events events)
      : loop_(loop), tasks_(tasks), events_(std::move(events)) {}

  // Has the task's reference and anchor built, unless they were before.
  void NeedSharedArtifacts(TaskRunner& runner);
  // Has the trial built. Where its artifact is kept, `trial_built` is called at once.
  void BuildTrial(TaskRunner& runner, const tuning_db::Trial& trial);
  // Has the finalists of the task's final built; those whose artifacts are kept are in the run at
  // once. Returns whether any has to be built.
  bool BuildFinalists(TaskRunner& runner);
  // Hands the builder as much as it takes now.
  void Dispatch();
  // Forgets what waits to be built for this task.
  void Drop(const TaskKey& key) { queue_.Drop(key); }

  // Whether something is being built, or waits for it and has a device.
  bool IsBusy() const { return queue_.open_batches() > 0 || queue_.HasWaiting(tasks_.IsServed()); }

 private:
  BuildItem NewItem(const TaskRunner& runner, BuildItem::Kind kind) const;
  BuildItem NewItem(const TaskRunner& runner, BuildItem::Kind kind, const std::string& config,
                    const std::string& nest_digest) const;
  void OnBuilt(uint64_t id, absl::StatusOr<hone::v1::BuildReply> reply);
  void KeepArtifact(TaskRunner& runner, const hone::v1::BuildRequest& request,
                    const absl::StatusOr<hone::v1::BuildReply>& reply) const;
  void OnBuilderFailed(TaskRunner& runner, BuildItem item, const absl::Status& status);
  void OnReferenceBuilt(TaskRunner& runner, const hone::v1::BuildReply& reply);
  void OnAnchorBuilt(TaskRunner& runner, const hone::v1::BuildReply& reply);
  void OnTrialBuilt(TaskRunner& runner, int64_t trial, const hone::v1::BuildReply& reply);
  void OnFinalistBuilt(TaskRunner& runner, size_t finalist, const hone::v1::BuildReply& reply);

  LoopContext& loop_;
  TaskTable& tasks_;
  const Events events_;
  BuildQueue queue_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_BUILD_STAGE_H_
