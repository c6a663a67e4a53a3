// Settles trials in the store, or sets them back to proposed.
#ifndef HONE_TUNER_JOBS_TRIAL_SETTLER_H_
#define HONE_TUNER_JOBS_TRIAL_SETTLER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "tuner/jobs/loop_context.h"
#include "tuner/jobs/task_table.h"
#include "tuner/mailbox.h"

namespace hone::tuner {

// The objects given to the constructor outlive it.
class TrialSettler {
 public:
  // Why a trial was not measured.
  struct Failure {
    tuning_db::Outcome outcome = tuning_db::Outcome::kCancelled;
    std::string message;
    std::string toolchain = "";  // the toolchain that failed to build it
  };

  TrialSettler(LoopContext& loop, TaskTable& tasks)
      : loop_(loop), tasks_(tasks), mailbox_(std::make_shared<Mailbox>(loop.parts.executor)) {}
  ~TrialSettler() { mailbox_->Close(); }

  // Settle and Release may be called on any thread. They tell the measurer by `settled`, which may
  // be empty for Release only, and call `next` on the loop's executor once the change is durable.
  // While the store fails in a way that passes, it is asked again at each tick.
  void Settle(tuning_db::Settlement settlement, SettledCallback settled,
              std::function<void(tuning_db::SettleResult)> next);
  // Sets the trial back to proposed; a late result under the old fence settles nothing.
  void Release(int64_t trial, int64_t fence, const SettledCallback& settled,
               std::function<void()> next);

  // To be called on the loop's executor. The daemon itself leases the trial and settles it with
  // this failure, unless a worker was faster, and then calls `next`: before it returns, unless the
  // store fails. The trial is passed by value, since it is removed from its task's open trials.
  void SettleFailure(tuning_db::Trial trial, const Failure& failure,
                     const std::function<void()>& next = nullptr);
  // To be called on the loop's executor. Tells the task which of its open trials others have
  // settled.
  void SeeRecords(const TaskKey& key);

 private:
  // A settlement, and those to tell of it.
  struct Request {
    tuning_db::Settlement settlement;
    SettledCallback settled;
    std::function<void(tuning_db::SettleResult)> next;
  };
  void Send(const std::shared_ptr<const Request>& request);

  LoopContext& loop_;
  TaskTable& tasks_;
  const std::shared_ptr<Mailbox> mailbox_;  // for what the store calls back
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_TRIAL_SETTLER_H_
