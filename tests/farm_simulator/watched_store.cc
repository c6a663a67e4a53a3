#include "tests/farm_simulator/watched_store.h"

#include "support/status.h"

namespace hone::sim {

using tuning_db::Record;
using tuning_db::SettleResult;
using tuning_db::Trial;

absl::Status WatchedStore::Enter(const std::string& call) {
  if (life_->is_over()) return absl::UnavailableError("the daemon is dead");
  if (queue_->IsTrue(weather_->kill_share / 2)) {
    kill_();
    return absl::UnavailableError("the daemon is dead");
  }
  if (!weather_->is_full && !queue_->IsTrue(weather_->fail_share)) return absl::OkStatus();
  history_->push_back({.at_ns = queue_->now_ns(), .what = What::kStoreFault, .text = call});
  return weather_->is_full ? absl::InternalError("database or disk is full")
                           : absl::UnavailableError("disk I/O error");
}

void WatchedStore::Leave() {
  if (queue_->IsTrue(weather_->kill_share / 2)) kill_();
}

absl::Status WatchedStore::SetJobState(int64_t id, tuning_db::JobState state,
                                       const std::string& message) {
  HONE_RETURN_IF_ERROR(Enter("SetJobState"));
  HONE_RETURN_IF_ERROR(next_->SetJobState(id, state, message));
  history_->push_back({.at_ns = queue_->now_ns(),
                       .what = What::kJobState,
                       .job = id,
                       .number = static_cast<int64_t>(state),
                       .text = message});
  Leave();
  return absl::OkStatus();
}

absl::Status WatchedStore::SetJobRan(int64_t id, int64_t ran_ns) {
  HONE_RETURN_IF_ERROR(Enter("SetJobRan"));
  return next_->SetJobRan(id, ran_ns);
}

absl::StatusOr<std::vector<Trial>> WatchedStore::Propose(const std::vector<Trial>& trials) {
  HONE_RETURN_IF_ERROR(Enter("Propose"));
  auto rows = next_->Propose(trials);
  Leave();
  return rows;
}

absl::StatusOr<Trial> WatchedStore::Lease(int64_t trial, const std::string& worker) {
  HONE_RETURN_IF_ERROR(Enter("Lease"));
  absl::StatusOr<Trial> leased = next_->Lease(trial, worker);
  if (!leased.ok()) return leased;
  history_->push_back({.at_ns = queue_->now_ns(),
                       .what = What::kLease,
                       .trial = trial,
                       .fence = leased->fence,
                       .worker = worker});
  Leave();
  return leased;
}

absl::Status WatchedStore::Release(int64_t trial, int64_t fence) {
  HONE_RETURN_IF_ERROR(Enter("Release"));
  HONE_RETURN_IF_ERROR(next_->Release(trial, fence));
  history_->push_back(
      {.at_ns = queue_->now_ns(), .what = What::kRelease, .trial = trial, .fence = fence});
  Leave();
  return absl::OkStatus();
}

absl::StatusOr<SettleResult> WatchedStore::Settle(int64_t fence, const Record& record) {
  HONE_RETURN_IF_ERROR(Enter("Settle"));
  absl::StatusOr<SettleResult> result = next_->Settle(fence, record);
  WriteSettled(fence, record, result);
  return result;
}

absl::StatusOr<SettleResult> WatchedStore::SettleFinal(int64_t fence, const Record& record,
                                                       const tuning_db::Final& final) {
  HONE_RETURN_IF_ERROR(Enter("SettleFinal"));
  absl::StatusOr<SettleResult> result = next_->SettleFinal(fence, record, final);
  WriteSettled(fence, record, result);
  return result;
}

void WatchedStore::WriteSettled(int64_t fence, const Record& record,
                                const absl::StatusOr<SettleResult>& result) {
  if (!result.ok()) return;
  history_->push_back({.at_ns = queue_->now_ns(),
                       .what = What::kSettle,
                       .trial = record.trial,
                       .fence = fence,
                       .worker = record.worker,
                       .number = static_cast<int64_t>(*result),
                       .text = std::string(Name(record.outcome)),
                       .echo = {{record.artifact_digest},
                                record.toolchain,
                                record.regime,
                                record.device,
                                record.samples_ns.empty() ? 0 : record.samples_ns[0]}});
  Leave();
}

}  // namespace hone::sim
