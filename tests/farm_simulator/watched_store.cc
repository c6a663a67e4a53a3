#include "tests/farm_simulator/watched_store.h"

#include <utility>

#include "support/status.h"
#include "tests/farm_simulator/scenario.h"

namespace hone::sim {

using tuning_db::LeaseRequest;
using tuning_db::MemoryStore;
using tuning_db::Ownership;
using tuning_db::Record;
using tuning_db::ReleaseRequest;
using tuning_db::Settlement;
using tuning_db::SettleResult;
using tuning_db::Trial;

void WatchedStore::Serve(std::shared_ptr<Life> life, std::function<void()> kill) {
  life_ = std::move(life);
  kill_ = std::move(kill);
  waiting_.clear();  // lost with the daemon before
}

absl::Status WatchedStore::Enter(const std::string &call) {
  if (life_->is_over()) return absl::UnavailableError("the daemon is dead");
  if (queue_->IsTrue(weather.kill_share / 2)) {
    kill_();
    return absl::UnavailableError("the daemon is dead");
  }
  if (!weather.is_full && !queue_->IsTrue(weather.fail_share)) return absl::OkStatus();
  history_->push_back({.at_ns = queue_->now_ns(),
                       .what = What::kFault,
                       .text = std::string(Name(Fault::kStorage))});
  history_->push_back({.at_ns = queue_->now_ns(),
                       .what = What::kStoreFault,
                       .number = weather.is_full ? 1 : 0,
                       .text = call});
  return weather.is_full ? absl::InternalError("database or disk is full")
                         : absl::UnavailableError("disk I/O error");
}

void WatchedStore::Leave() {
  if (queue_->IsTrue(weather.kill_share / 2)) kill_();
}

absl::Status WatchedStore::SetJobState(const Ownership &ownership, int64_t id,
                                       tuning_db::JobState state, const std::string &message) {
  HONE_RETURN_IF_ERROR(Enter("SetJobState"));
  HONE_RETURN_IF_ERROR(MemoryStore::SetJobState(ownership, id, state, message));
  history_->push_back({.at_ns = queue_->now_ns(),
                       .what = What::kJobState,
                       .job = id,
                       .number = static_cast<int64_t>(state),
                       .text = message});
  Leave();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Trial>> WatchedStore::Propose(const Ownership &ownership,
                                                         const std::vector<Trial> &trials) {
  HONE_RETURN_IF_ERROR(Enter("Propose"));
  auto rows = MemoryStore::Propose(ownership, trials);
  Leave();
  return rows;
}

// ---- batches ----

void WatchedStore::Begin(std::function<void()> work) {
  if (weather.commits_at_once) return work();
  waiting_.push_back(std::move(work));
  if (waiting_.size() > 1) return;
  queue_->After(queue_->Between(500'000, 10 * kMillisecond), life_, [this] {
    for (const auto &next : std::exchange(waiting_, {})) next();
  });
}

template <typename Request, typename Answer>
absl::Status WatchedStore::Commit(const std::string &call, std::vector<Request> requests,
                                  std::function<absl::StatusOr<Answer>(const Request &)> commit_one,
                                  std::function<void(std::vector<absl::StatusOr<Answer>>)> done) {
  if (life_->is_over()) return absl::UnavailableError("the daemon is dead");
  if (weather.is_busy) {
    history_->push_back({.at_ns = queue_->now_ns(),
                         .what = What::kFault,
                         .text = std::string(Name(Fault::kBusyStore))});
    return absl::ResourceExhaustedError("too many wait");
  }
  Begin([this, call, requests = std::move(requests), commit_one = std::move(commit_one),
         done = std::move(done)] {
    std::vector<absl::StatusOr<Answer>> answers;
    absl::Status entered = Enter(call);
    for (const Request &request : requests) {
      answers.push_back(entered.ok() ? commit_one(request) : absl::StatusOr<Answer>(entered));
    }
    if (entered.ok()) Leave();
    // Who is dead hears nothing, unless it waits for the answer amid its doing.
    if (!life_->is_over() || weather.commits_at_once) done(std::move(answers));
  });
  return absl::OkStatus();
}

absl::StatusOr<Trial> WatchedStore::CommitLease(const LeaseRequest &request) {
  absl::StatusOr<Trial> leased = absl::UnknownError("not called back");
  HONE_RETURN_IF_ERROR(MemoryStore::LeaseMany(
      {request}, [&](LeaseAnswers answers) { leased = std::move(answers.at(0)); }));
  return leased;
}

absl::StatusOr<SettleResult> WatchedStore::CommitSettle(const Settlement &settlement) {
  absl::StatusOr<SettleResult> settled = absl::UnknownError("not called back");
  HONE_RETURN_IF_ERROR(MemoryStore::SettleMany(
      {settlement}, [&](SettleAnswers answers) { settled = std::move(answers.at(0)); }));
  return settled;
}

absl::StatusOr<Trial> WatchedStore::Get(int64_t trial) {
  absl::StatusOr<Trial> found = absl::UnknownError("not called back");
  HONE_RETURN_IF_ERROR(
      MemoryStore::GetMany({trial}, [&](GetAnswers answers) { found = std::move(answers.at(0)); }));
  return found;
}

absl::Status WatchedStore::GetMany(std::vector<int64_t> trials,
                                   std::function<void(GetAnswers)> done) {
  const auto one = [this](int64_t trial) { return Get(trial); };
  return Commit<int64_t, Trial>("Get", std::move(trials), one, std::move(done));
}

absl::Status WatchedStore::LeaseMany(std::vector<LeaseRequest> requests,
                                     std::function<void(LeaseAnswers)> done) {
  const auto one = [this](const LeaseRequest &request) {
    absl::StatusOr<Trial> leased = CommitLease(request);
    if (leased.ok()) {
      history_->push_back({.at_ns = queue_->now_ns(),
                           .what = What::kLease,
                           .trial = request.trial,
                           .fence = leased->fence,
                           .worker = request.worker,
                           .device = request.device});
    }
    return leased;
  };
  return Commit<LeaseRequest, Trial>("Lease", std::move(requests), one, std::move(done));
}

absl::Status WatchedStore::ReleaseMany(std::vector<ReleaseRequest> requests,
                                       std::function<void(ReleaseAnswers)> done) {
  const auto one = [this](const ReleaseRequest &request) {
    absl::StatusOr<Trial> released = absl::UnknownError("not called back");
    const absl::Status begun = MemoryStore::ReleaseMany(
        {request}, [&](ReleaseAnswers answers) { released = std::move(answers.at(0)); });
    if (begun.ok() && released.ok()) {
      history_->push_back({.at_ns = queue_->now_ns(),
                           .what = What::kRelease,
                           .trial = request.trial,
                           .fence = request.fence,
                           .number = request.is_strike ? 1 : 0});
    }
    return released;
  };
  return Commit<ReleaseRequest, Trial>("Release", std::move(requests), one, std::move(done));
}

absl::Status WatchedStore::SettleMany(std::vector<Settlement> settlements,
                                      std::function<void(SettleAnswers)> done) {
  const auto one = [this](const Settlement &settlement) {
    absl::StatusOr<SettleResult> settled = CommitSettle(settlement);
    const Record &record = settlement.record;
    if (settled.ok()) {
      history_->push_back({.at_ns = queue_->now_ns(),
                           .what = What::kSettle,
                           .trial = record.trial,
                           .fence = settlement.fence,
                           .worker = record.worker,
                           .number = static_cast<int64_t>(*settled),
                           .text = std::string(Name(record.outcome)),
                           .echo = {{record.artifact_digest},
                                    record.toolchain,
                                    record.regime,
                                    record.device,
                                    record.samples_ns.empty() ? 0 : record.samples_ns[0]}});
    }
    return settled;
  };
  return Commit<Settlement, SettleResult>("Settle", std::move(settlements), one, std::move(done));
}

}  // namespace hone::sim
