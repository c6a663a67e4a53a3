#include "tuning_db/trial_store.h"

#include <future>
#include <utility>

#include "support/status.h"

namespace hone::tuning_db {
namespace {

// The answer of a batch of one: `start` begins it with what it is to call.
template <typename Answer, typename Start>
absl::StatusOr<Answer> WaitForOne(const Start& start) {
  std::promise<absl::StatusOr<Answer>> promise;
  HONE_RETURN_IF_ERROR(start([&promise](std::vector<absl::StatusOr<Answer>> answers) {
    promise.set_value(std::move(answers.at(0)));
  }));
  return promise.get_future().get();
}

}  // namespace

absl::StatusOr<SettleResult> TrialStore::Import(const Trial& trial, const Record& record) {
  HONE_ASSIGN_OR_RETURN(const std::vector<SettleResult> results, ImportMany({{trial, record}}));
  return results.at(0);
}

absl::StatusOr<Trial> TrialStore::Lease(const LeaseRequest& request) {
  return WaitForOne<Trial>([&](auto done) { return LeaseMany({request}, std::move(done)); });
}

absl::StatusOr<Trial> TrialStore::Lease(int64_t trial, const std::string& worker) {
  return Lease(LeaseRequest{.trial = trial, .worker = worker});
}

absl::Status TrialStore::Release(int64_t trial, int64_t fence, bool is_strike) {
  const ReleaseRequest request{.trial = trial, .fence = fence, .is_strike = is_strike};
  return WaitForOne<Trial>([&](auto done) { return ReleaseMany({request}, std::move(done)); })
      .status();
}

absl::StatusOr<SettleResult> TrialStore::Settle(int64_t fence, const Record& record) {
  const Settlement settlement{.fence = fence, .record = record};
  return WaitForOne<SettleResult>(
      [&](auto done) { return SettleMany({settlement}, std::move(done)); });
}

absl::StatusOr<SettleResult> TrialStore::SettleFinal(int64_t fence, const Record& record,
                                                     const Final& final) {
  const Settlement settlement{.fence = fence, .record = record, .final = final};
  return WaitForOne<SettleResult>(
      [&](auto done) { return SettleMany({settlement}, std::move(done)); });
}

}  // namespace hone::tuning_db
