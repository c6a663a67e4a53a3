#include "tuner/farm/stray_results.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "support/status.h"
#include "tuner/farm/assignment.h"
#include "tuner/measure_record.h"

namespace hone::tuner {

namespace v1 = hone::v1;
using tuning_db::SettleResult;

absl::StatusOr<std::optional<tuning_db::Record>> StrayResults::RecordOf(
    const std::string& worker, const v1::Device* device, uint32_t protocol,
    const v1::MeasureResult& result) const {
  HONE_ASSIGN_OR_RETURN(const std::vector<tuning_db::Trial> open, store_->OpenTrials(0));
  const auto trial =
      std::find_if(open.begin(), open.end(), [&](const auto& t) { return t.id == result.trial(); });
  tuning_db::Record record;
  record.trial = result.trial();
  // It is settled, maybe under this very fence: the store tells a duplicate from what is too late.
  if (trial == open.end()) return record;
  // A final needs more than its record, a calibration its anchor, and a task without a reference
  // more than a settled trial: all are begun again by those who want them.
  const bool is_whole = result.candidates_size() == 1 &&
                        result.candidates(0).outcome() != v1::MEASURE_OUTCOME_NO_REFERENCE;
  if (trial->fence != result.fence() || trial->worker != worker ||
      trial->purpose == tuning_db::Purpose::kConfirm || !is_whole) {
    return std::nullopt;
  }
  v1::Assignment known;
  known.set_fence(trial->fence);
  known.set_trial(trial->id);
  known.set_attempt(static_cast<uint32_t>(trial->attempt));
  const std::string difference = FirstDifference(known, device, protocol, kUnknownNs, result);
  if (!difference.empty()) {
    spdlog::warn("the result of trial {} by worker {} is not believed: {}", trial->id, worker,
                 difference);
    return std::nullopt;
  }
  if (!WhyLost(result).empty()) return std::nullopt;
  return ToRecord(result, worker, clock_->WallTimeNs());
}

void StrayResults::Settle(const std::string& worker, const v1::Device* device, uint32_t protocol,
                          const v1::MeasureResult& result, SettledCallback settled) const {
  const auto record = RecordOf(worker, device, protocol, result);
  if (!record.ok()) return settled(record.status());
  if (!*record) return settled(SettleResult::kRefused);
  const absl::Status begun = store_->SettleMany(
      {{.fence = result.fence(), .record = **record}},
      [settled](const tuning_db::TrialStore::SettleAnswers& answers) {
        const absl::StatusOr<SettleResult>& answer = answers.at(0);
        settled(absl::IsNotFound(answer.status()) ? SettleResult::kRefused : answer);
      });
  if (!begun.ok()) settled(begun);
}

}  // namespace hone::tuner
