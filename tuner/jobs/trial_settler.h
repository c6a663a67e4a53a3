// How trials leave the loop: settled, or back to proposed.
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

// Both it is given outlive it.
class TrialSettler {
 public:
  // Why a trial was not measured.
  struct Failure {
    tuning_db::Outcome outcome = tuning_db::Outcome::kCancelled;
    std::string message;
    std::string toolchain = "";  // that failed to build it
  };

  TrialSettler(LoopContext& loop, TaskTable& tasks)
      : loop_(loop), tasks_(tasks), mailbox_(std::make_shared<Mailbox>(loop.parts.executor)) {}
  ~TrialSettler() { mailbox_->Close(); }

  // These two may be called on any thread. They tell the measurer by `settled`, where it is not
  // empty, and go on with `next` on the loop's executor once it is durable. While the store fails
  // in a way that passes, it is asked again at each tick.
  void Settle(tuning_db::Settlement settlement, SettledCallback settled,
              std::function<void(tuning_db::SettleResult)> next);
  // The trial is proposed again, and a result that comes late under the old fence settles nothing.
  void Release(int64_t trial, int64_t fence, const SettledCallback& settled,
               std::function<void()> next);

  // To be called on the executor. The daemon itself leases the trial and settles it as this
  // failure, unless a worker was faster, and goes on with `next`: at once, unless the store fails.
  // The trial is a copy, since it leaves its task's open ones.
  void SettleFailure(tuning_db::Trial trial, const Failure& failure,
                     const std::function<void()>& next = nullptr);
  // To be called on the executor. The task learns what others have settled of its open trials.
  void SeeRecords(const TaskKey& key);

 private:
  // What is settled, and whom it tells.
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
