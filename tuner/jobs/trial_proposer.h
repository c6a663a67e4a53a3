// Adds trials to the store.
#ifndef HONE_TUNER_JOBS_TRIAL_PROPOSER_H_
#define HONE_TUNER_JOBS_TRIAL_PROPOSER_H_

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tuner/jobs/loop_context.h"
#include "tuner/mailbox.h"

namespace hone::tuner {

// The context outlives it.
class TrialProposer {
 public:
  explicit TrialProposer(LoopContext& loop)
      : loop_(loop), mailbox_(std::make_shared<Mailbox>(loop.parts.executor)) {}
  ~TrialProposer() { mailbox_->Close(); }

  using Rows = std::vector<tuning_db::Trial>;
  using Next = std::function<void(const absl::StatusOr<Rows>& rows)>;

  // Proposes the trials. Calls `next` on the loop's executor once the rows are durable, or with the
  // error with which the store refused them for good. Returns at once: other proposals, leases and
  // settlements share the commit. `name` is part of the names of the crash points.
  void Propose(std::string_view name, Rows trials, Next next);

 private:
  void OnAnswer(std::string_view name, const Rows& trials, const Next& next,
                const absl::StatusOr<Rows>& rows);

  LoopContext& loop_;
  const std::shared_ptr<Mailbox> mailbox_;  // for what the store calls back
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_TRIAL_PROPOSER_H_
