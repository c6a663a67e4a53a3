#include "tuner/jobs/trial_settler.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "support/crash_point.h"
#include "support/status.h"

namespace hone::tuner {

using tuning_db::SettleResult;
using tuning_db::TrialStore;

void TrialSettler::Settle(tuning_db::Settlement settlement, const SettledCallback& settled,
                          std::function<void(SettleResult)> next) {
  const auto answer = [this, mailbox = mailbox_, settled,
                       next = std::move(next)](const absl::StatusOr<SettleResult>& how) {
    mailbox->Post([this, how, next] { how.ok() ? next(*how) : loop_.Fatal(how.status()); });
    settled(how);
  };
  const absl::Status begun = loop_.parts.store->SettleMany(
      {std::move(settlement)},
      [answer](const TrialStore::SettleAnswers& answers) { answer(answers.at(0)); });
  if (!begun.ok()) answer(begun);
}

void TrialSettler::Release(int64_t trial, int64_t fence, const SettledCallback& settled,
                           std::function<void()> next) {
  const absl::Status begun = loop_.parts.store->ReleaseMany(
      {{.trial = trial, .fence = fence}},
      [mailbox = mailbox_, settled, trial,
       next = std::move(next)](const TrialStore::ReleaseAnswers& answers) {
        if (!answers.at(0).ok()) {
          spdlog::warn("trial {} is not released: {}", trial, answers.at(0).status().ToString());
        }
        mailbox->Post(next);
        if (settled) settled(SettleResult::kRefused);
      });
  if (begun.ok()) return;
  mailbox_->Post([this, begun] { loop_.Fatal(begun); });
  if (settled) settled(begun);
}

absl::Status TrialSettler::SettleFailure(tuning_db::Trial trial, tuning_db::Outcome outcome,
                                         const std::string& message, const std::string& toolchain) {
  tuning_db::Record record;
  record.trial = trial.id;
  record.outcome = outcome;
  record.message = message;
  record.toolchain = toolchain;
  record.wall_time_ns = loop_.parts.clock->WallTimeNs();
  tuning_db::Store& store = *loop_.parts.store;
  // The measurer may lease the trial in between; a newer lease wins.
  for (;;) {
    CrashPoint("tuner.settle_failure.before");
    const auto leased = store.Lease({.trial = trial.id, .ownership = loop_.LeasesAs()});
    if (leased.status().code() == absl::StatusCode::kFailedPrecondition) break;  // settled
    if (!leased.ok()) return leased.status();
    CrashPoint("tuner.settle_failure.leased");
    HONE_ASSIGN_OR_RETURN(const SettleResult result, store.Settle(leased->fence, record));
    CrashPoint("tuner.settle_failure.after");
    if (result != SettleResult::kRefused) break;
  }
  if (TaskRunner* runner = tasks_.Find({trial.task, trial.signature})) {
    runner->open.erase(trial.id);
    if (tuning_db::IsProposed(trial.purpose)) runner->history.Settled(record);
  }
  return absl::OkStatus();
}

}  // namespace hone::tuner
