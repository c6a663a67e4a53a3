#include "tuner/jobs/trial_settler.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "tuner/store_error.h"
#include "tuning_db/settle_here.h"

namespace hone::tuner {

using tuning_db::SettleResult;
using tuning_db::Trial;
using tuning_db::TrialStore;

void TrialSettler::Settle(tuning_db::Settlement settlement, SettledCallback settled,
                          std::function<void(SettleResult)> next) {
  Send(std::make_shared<const Request>(
      Request{std::move(settlement), std::move(settled), std::move(next)}));
}

void TrialSettler::Send(const std::shared_ptr<const Request>& request) {
  const auto answer = [this, mailbox = mailbox_, request](const absl::StatusOr<SettleResult>& how) {
    mailbox->Post([this, request, how] {
      if (how.ok()) return request->next(*how);
      loop_.Failed(how.status(), [this, request] { Send(request); });
    });
    if (!Passes(how.status())) request->settled(how);
  };
  const absl::Status begun = loop_.parts.store->SettleMany(
      {request->settlement},
      [answer](const TrialStore::SettleAnswers& answers) { answer(answers.at(0)); });
  if (!begun.ok()) answer(begun);
}

void TrialSettler::Release(int64_t trial, int64_t fence, const SettledCallback& settled,
                           std::function<void()> next) {
  const auto answer = [this, mailbox = mailbox_, settled, trial, fence,
                       next = std::move(next)](const absl::Status& released) {
    if (Passes(released)) {
      mailbox->Post([this, trial, fence, next, released] {
        loop_.Failed(released,
                     [this, trial, fence, next] { Release(trial, fence, nullptr, next); });
      });
    } else {
      // The trial is settled, or leased anew, which makes this fence an old one just as well.
      if (!released.ok()) spdlog::warn("trial {} is not released: {}", trial, released.ToString());
      mailbox->Post(next);
    }
    if (settled) settled(SettleResult::kRefused);
  };
  const absl::Status begun = loop_.parts.store->ReleaseMany(
      {{.trial = trial, .fence = fence}},
      [answer](const TrialStore::ReleaseAnswers& answers) { answer(answers.at(0).status()); });
  if (!begun.ok()) answer(begun);
}

void TrialSettler::SettleFailure(Trial trial, const Failure& failure,
                                 const std::function<void()>& next) {
  tuning_db::Record record;
  record.trial = trial.id;
  record.outcome = failure.outcome;
  record.message = failure.message;
  record.toolchain = failure.toolchain;
  record.wall_time_ns = loop_.parts.clock->WallTimeNs();
  const absl::StatusOr<bool> is_settled =
      tuning_db::SettleHere(*loop_.parts.store, loop_.LeasesAs(), record);
  if (!is_settled.ok()) {
    return loop_.Failed(is_settled.status(), [=, this] { SettleFailure(trial, failure, next); });
  }
  TaskRunner* const runner = tasks_.Find({trial.task, trial.signature});
  if (runner != nullptr) {
    runner->open.erase(trial.id);
    if (*is_settled && tuning_db::IsProposed(trial.purpose)) runner->history.Settled(record);
  }
  if (!*is_settled) SeeRecords({trial.task, trial.signature});
  if (next) next();
}

void TrialSettler::SeeRecords(const TaskKey& key) {
  tuning_db::RecordFilter filter;
  filter.task = key.first;
  filter.signature = key.second;
  const auto records = loop_.parts.store->Records(filter);
  if (!records.ok()) {
    return loop_.Failed(records.status(), [this, key] { SeeRecords(key); });
  }
  TaskRunner* const runner = tasks_.Find(key);
  if (runner == nullptr) return;
  for (const tuning_db::Record& record : *records) {
    if (!tuning_db::IsProposed(record.of_trial.purpose)) continue;
    if (runner->open.erase(record.trial) > 0) runner->measuring.erase(record.trial);
    runner->history.Settled(record);
  }
}

}  // namespace hone::tuner
