#include "tuner/farm/stray_results.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "tuner/farm/assignment.h"
#include "tuner/measure_record.h"

namespace hone::tuner {

namespace v1 = hone::v1;
using tuning_db::SettleResult;
using tuning_db::Trial;
using tuning_db::TrialState;

namespace {

// A final needs more than its record, a calibration its anchor, and a task without a reference more
// than a settled trial: all are begun again by those who want them.
bool IsWhole(const Trial& trial, const v1::MeasureResult& result) {
  return trial.purpose != tuning_db::Purpose::kConfirm && result.candidates_size() == 1 &&
         result.candidates(0).outcome() != v1::MEASURE_OUTCOME_NO_REFERENCE;
}

// Whether it may settle the trial, which is leased under its fence.
bool IsBelieved(const StrayResult& stray, const Trial& leased) {
  const v1::MeasureResult& result = stray.result;
  if (leased.worker != stray.worker || !IsWhole(leased, result)) return false;
  if (!WhyLost(result).empty()) return false;
  const std::string difference =
      FirstDifference(FromLease(leased), stray.device ? &*stray.device : nullptr, stray.protocol,
                      leased.limit_ns, result);
  if (difference.empty()) return true;
  spdlog::warn("the result of trial {} by worker {} is not believed: {}", leased.id, stray.worker,
               difference);
  return false;
}

}  // namespace

void StrayResults::Settle(StrayResult stray, SettledCallback settled) const {
  const int64_t trial = stray.result.trial();
  const absl::Status begun =
      store_->GetMany({trial}, [this, mailbox = mailbox_, stray = std::move(stray),
                                settled](const tuning_db::TrialStore::GetAnswers& answers) {
        mailbox->Post(
            [this, stray, settled, found = answers.at(0)] { SettleAs(stray, found, settled); });
      });
  if (!begun.ok()) settled(begun);
}

void StrayResults::SettleAs(const StrayResult& stray, const absl::StatusOr<Trial>& trial,
                            const SettledCallback& settled) const {
  if (absl::IsNotFound(trial.status())) return settled(SettleResult::kRefused);
  if (!trial.ok()) return settled(trial.status());
  if (trial->fence != stray.result.fence()) return settled(SettleResult::kRefused);
  if (trial->state == TrialState::kSettled) return settled(SettleResult::kDuplicate);
  if (trial->state != TrialState::kLeased || !IsBelieved(stray, *trial)) {
    return settled(SettleResult::kRefused);
  }
  const absl::Status begun = store_->SettleMany(
      {{.fence = trial->fence,
        .record = ToRecord(stray.result, stray.worker, clock_->WallTimeNs())}},
      [mailbox = mailbox_, settled](const tuning_db::TrialStore::SettleAnswers& answers) {
        mailbox->Post([settled, answer = answers.at(0)] { settled(answer); });
      });
  if (!begun.ok()) settled(begun);
}

}  // namespace hone::tuner
