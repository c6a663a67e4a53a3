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
  TrialSettler(LoopContext& loop, TaskTable& tasks)
      : loop_(loop), tasks_(tasks), mailbox_(std::make_shared<Mailbox>(loop.parts.executor)) {}
  ~TrialSettler() { mailbox_->Close(); }

  // These two may be called on any thread. They tell the measurer by `settled`, where it is not
  // empty, and go on with `next` on the loop's executor once it is durable; the loop stops where
  // the store fails.
  void Settle(tuning_db::Settlement settlement, const SettledCallback& settled,
              std::function<void(tuning_db::SettleResult)> next);
  // The trial is proposed again, and a result that comes late under the old fence settles nothing.
  void Release(int64_t trial, int64_t fence, const SettledCallback& settled,
               std::function<void()> next);

  // To be called on the executor. The daemon itself leases the trial and settles it as this
  // failure, unless a worker was faster. The trial is a copy, since it leaves its task's open ones.
  absl::Status SettleFailure(tuning_db::Trial trial, tuning_db::Outcome outcome,
                             const std::string& message, const std::string& toolchain = "");

 private:
  LoopContext& loop_;
  TaskTable& tasks_;
  const std::shared_ptr<Mailbox> mailbox_;  // for what the store calls back
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_TRIAL_SETTLER_H_
