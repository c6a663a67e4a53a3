#include "tuning_db/settle_here.h"

#include <future>

#include "support/crash_point.h"
#include "support/status.h"

namespace hone::tuning_db {
namespace {

absl::StatusOr<bool> IsSettled(TrialStore& store, int64_t trial) {
  std::promise<absl::StatusOr<Trial>> promise;
  HONE_RETURN_IF_ERROR(store.GetMany({trial}, [&promise](TrialStore::GetAnswers answers) {
    promise.set_value(std::move(answers.at(0)));
  }));
  HONE_ASSIGN_OR_RETURN(const Trial found, promise.get_future().get());
  return found.state == TrialState::kSettled;
}

}  // namespace

absl::StatusOr<bool> SettleHere(TrialStore& store, const Ownership& ownership,
                                const Record& record) {
  for (;;) {
    CrashPoint("tuner.settle_failure.before");
    const auto leased = store.Lease({.trial = record.trial, .ownership = ownership});
    if (absl::IsFailedPrecondition(leased.status())) {
      // A store that was migrated meanwhile answers so as well.
      HONE_ASSIGN_OR_RETURN(const bool is_settled, IsSettled(store, record.trial));
      if (is_settled) return false;
    }
    HONE_RETURN_IF_ERROR(leased.status());
    CrashPoint("tuner.settle_failure.leased");
    HONE_ASSIGN_OR_RETURN(const SettleResult result, store.Settle(leased->fence, record));
    CrashPoint("tuner.settle_failure.after");
    if (result != SettleResult::kRefused) return true;
  }
}

}  // namespace hone::tuning_db
