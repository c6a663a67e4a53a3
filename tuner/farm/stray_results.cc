#include "tuner/farm/stray_results.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "tuner/farm/assignment.h"
#include "tuner/measure_record.h"
#include "tuner/store_error.h"

namespace hone::tuner {

namespace v1 = hone::v1;
using tuning_db::SettleResult;
using tuning_db::Trial;
using tuning_db::TrialState;

namespace {

// Results that wait for a store that is full or away. Beyond it their workers keep them until they
// come back.
constexpr size_t kMostWaitingBytes = size_t{64} << 20;

// A final needs more than its record, a calibration its anchor, and a task without a reference more
// than a settled trial: all are begun again by those who want them.
bool IsWhole(const Trial& trial, const v1::MeasureResult& result) {
  return trial.purpose != tuning_db::Purpose::kConfirm && result.candidates_size() == 1 &&
         result.candidates(0).outcome() != v1::MEASURE_OUTCOME_NO_REFERENCE;
}

// Empty, or why it may not settle the trial, which is leased under its fence.
std::string WhyNot(const StrayResult& stray, const Trial& leased) {
  const v1::MeasureResult& result = stray.result;
  if (leased.worker != stray.worker) return "it is another worker's";
  if (!IsWhole(leased, result)) {
    return "its job has begun the measurement again since the daemon came back";
  }
  if (const std::string lost = WhyLost(result); !lost.empty()) return lost;
  const std::string difference =
      FirstDifference(FromLease(leased), stray.device ? &*stray.device : nullptr, stray.protocol,
                      leased.limit_ns, result);
  if (!difference.empty()) {
    spdlog::warn("the result of trial {} by worker {} is not believed: {}", leased.id, stray.worker,
                 difference);
  }
  return difference;
}

}  // namespace

void StrayResults::Settle(StrayResult stray, StrayCallback settled) {
  const absl::Status begun = store_->GetMany(
      {stray.result.trial()},
      [this, mailbox = mailbox_, stray, settled](const tuning_db::TrialStore::GetAnswers& answers) {
        mailbox->Post(
            [this, stray, settled, found = answers.at(0)] { SettleAs(stray, found, settled); });
      });
  if (!begun.ok()) Wait(std::move(stray), std::move(settled), begun);
}

void StrayResults::SettleAs(const StrayResult& stray, const absl::StatusOr<Trial>& trial,
                            const StrayCallback& settled) {
  if (absl::IsNotFound(trial.status())) {
    return settled(SettleResult::kRefused, "there is no such trial");
  }
  if (!trial.ok()) return Wait(stray, settled, trial.status());
  if (trial->fence != stray.result.fence()) {
    return settled(SettleResult::kRefused,
                   "the trial has no lease under this fence, or a newer one");
  }
  if (trial->state == TrialState::kSettled) return settled(SettleResult::kDuplicate, "");
  if (trial->state != TrialState::kLeased) {
    return settled(SettleResult::kRefused, "its lease is over");
  }
  if (const std::string why = WhyNot(stray, *trial); !why.empty()) {
    return settled(SettleResult::kRefused, why);
  }
  const absl::Status begun =
      store_->SettleMany({{.fence = trial->fence,
                           .record = ToRecord(stray.result, stray.worker, clock_->WallTimeNs())}},
                         [this, mailbox = mailbox_, stray,
                          settled](const tuning_db::TrialStore::SettleAnswers& answers) {
                           mailbox->Post([this, stray, settled, answer = answers.at(0)] {
                             answer.ok() ? settled(answer, "its lease is over")
                                         : Wait(stray, settled, answer.status());
                           });
                         });
  if (!begun.ok()) Wait(stray, settled, begun);
}

void StrayResults::Wait(StrayResult stray, StrayCallback settled, const absl::Status& why) {
  const size_t bytes = stray.result.ByteSizeLong();
  if (!Passes(why) || waiting_bytes_ + bytes > kMostWaitingBytes) {
    return settled(why, "");
  }
  waiting_bytes_ += bytes;
  waiting_.emplace_back(std::move(stray), std::move(settled));
}

void StrayResults::TryAgain() {
  waiting_bytes_ = 0;
  for (auto& [stray, settled] : std::exchange(waiting_, {})) {
    Settle(std::move(stray), std::move(settled));
  }
}

}  // namespace hone::tuner
