// Tasks and trials of the store in PostgreSQL.
#include <memory>
#include <utility>

#include "support/status.h"
#include "tuning_db/postgres/postgres_store.h"
#include "tuning_db/postgres/rows.h"
#include "tuning_db/transitions.h"
#include "tuning_db/well_formed.h"

namespace hone::tuning_db::postgres {
namespace {

// The trial is settled. Jobs that want it are told. The id is the record's, as below.
absl::StatusOr<int64_t> AddRecord(Connection& db, const Trial& trial, const Record& record) {
  HONE_ASSIGN_OR_RETURN(const int64_t id, InsertRecord(db, trial, record));
  HONE_RETURN_IF_ERROR(TellJobsOfRecord(db, trial, id));
  return id;
}

absl::StatusOr<int64_t> SettleWith(Connection& db, Trial& trial, const Record& record) {
  SettleAs(trial);
  HONE_RETURN_IF_ERROR(UpdateTrial(db, trial));
  return AddRecord(db, trial, record);
}

absl::StatusOr<SettleResult> ImportOne(Connection& db, const Trial& trial, const Record& record) {
  HONE_RETURN_IF_ERROR(IsWellFormed(trial));
  HONE_RETURN_IF_ERROR(IsWellFormed(record));
  HONE_ASSIGN_OR_RETURN(const auto known, FindTrial(db, trial));
  if (known) return SettleResult::kDuplicate;
  HONE_RETURN_IF_ERROR(RequireOwners(db, trial.task, trial.job));
  HONE_ASSIGN_OR_RETURN(const int64_t fence, NextOf(db, "fence"));
  Trial row = Proposed(trial);
  LeaseAs({.worker = kImporter}, fence, row);
  SettleAs(row);
  HONE_ASSIGN_OR_RETURN(row.id, AddTrial(db, row));
  HONE_RETURN_IF_ERROR(AddRecord(db, row, record).status());
  return SettleResult::kSettled;
}

}  // namespace

absl::StatusOr<int64_t> PostgresStore::EnsureTask(const Task& task) {
  HONE_RETURN_IF_ERROR(IsWellFormed(task));
  // Mostly it is there, and a reader needs no sync.
  HONE_ASSIGN_OR_RETURN(const auto known, FindTask(task.workload_digest, task.target));
  if (known) return known->id;
  return Change<int64_t>("ensure_task",
                         [&](Connection& db) { return postgres::EnsureTask(db, task); });
}

absl::StatusOr<Task> PostgresStore::GetTask(int64_t id) {
  return readers_.Read([&](Connection& db) { return ReadTask(db, id); });
}

absl::StatusOr<std::optional<Task>> PostgresStore::FindTask(const std::string& workload_digest,
                                                            const std::string& target) {
  return readers_.Read(
      [&](Connection& db) { return postgres::FindTask(db, workload_digest, target); });
}

absl::StatusOr<std::vector<Task>> PostgresStore::TasksOfWorkload(
    const std::string& workload_digest) {
  return readers_.Read([&](Connection& db) { return ReadTasks(db, workload_digest); });
}

absl::StatusOr<std::vector<SettleResult>> PostgresStore::ImportMany(
    const std::vector<Measured>& entries) {
  using Results = std::vector<SettleResult>;
  return Change<Results>("import", [&](Connection& db) -> absl::StatusOr<Results> {
    Results results;
    for (const auto& [trial, record] : entries) {
      HONE_ASSIGN_OR_RETURN(results.emplace_back(), ImportOne(db, trial, record));
    }
    return results;
  });
}

absl::StatusOr<std::vector<Trial>> PostgresStore::OpenTrials(int64_t job) {
  return readers_.Read([&](Connection& db) { return ReadOpenTrials(db, job); });
}

absl::StatusOr<int64_t> PostgresStore::CountTrials(int64_t task, const std::string& signature,
                                                   Purpose purpose) {
  return readers_.Read([&](Connection& db) -> absl::StatusOr<int64_t> {
    HONE_ASSIGN_OR_RETURN(const std::optional<int64_t> text, FindText(db, signature));
    HONE_ASSIGN_OR_RETURN(
        const auto count,
        db.Integer(
            "SELECT COUNT(*) FROM trials WHERE task = $1 AND signature = $2 AND purpose = $3", task,
            text, purpose));
    return count.value_or(0);
  });
}

template <typename Answer, typename Entry, typename Step>
absl::Status PostgresStore::ChangeMany(
    std::string_view name, std::vector<Entry> entries, const Step& step,
    std::function<void(std::vector<absl::StatusOr<Answer>>)> done) {
  if (writer_ == nullptr) return ReadOnly();
  using Answers = std::vector<absl::StatusOr<Answer>>;
  auto answers = std::make_shared<Answers>(entries.size(), absl::UnknownError("not run"));
  std::vector<Writer::Change> changes;
  for (size_t i = 0; i < entries.size(); ++i) {
    changes.push_back({name, [answers, i, step, entry = std::move(entries[i])](Connection& db) {
                         (*answers)[i] = step(db, entry);
                         return (*answers)[i].status();
                       }});
  }
  return writer_->Post(std::move(changes),
                       [answers, done = std::move(done)](std::vector<absl::Status> statuses) {
                         // Where the commit failed, what a step had answered is not so.
                         for (size_t i = 0; i < statuses.size(); ++i) {
                           if (!statuses[i].ok()) (*answers)[i] = statuses[i];
                         }
                         done(std::move(*answers));
                       });
}

namespace {

absl::StatusOr<std::vector<Trial>> ProposeAll(Connection& db, const Ownership& ownership,
                                              const std::vector<Trial>& trials) {
  std::vector<Trial> rows;
  for (const Trial& trial : trials) {
    HONE_RETURN_IF_ERROR(IsWellFormed(trial));
    HONE_RETURN_IF_ERROR(MayWriteJob(db, trial.job, ownership, JobWrite::kProposal));
    HONE_ASSIGN_OR_RETURN(rows.emplace_back(), EnsureTrial(db, trial));
  }
  return rows;
}

}  // namespace

absl::StatusOr<std::vector<Trial>> PostgresStore::Propose(const Ownership& ownership,
                                                          const std::vector<Trial>& trials) {
  return Change<std::vector<Trial>>(
      "propose", [&](Connection& db) { return ProposeAll(db, ownership, trials); });
}

absl::Status PostgresStore::ProposeThen(
    const Ownership& ownership, const std::vector<Trial>& trials,
    std::function<void(absl::StatusOr<std::vector<Trial>>)> done) {
  using Batch = std::vector<Trial>;
  const auto step = [ownership](Connection& db, const Batch& batch) {
    return ProposeAll(db, ownership, batch);
  };
  return ChangeMany<Batch>("propose", std::vector<Batch>{trials}, step,
                           [done = std::move(done)](std::vector<absl::StatusOr<Batch>> answers) {
                             done(std::move(answers.at(0)));
                           });
}

absl::Status PostgresStore::LeaseMany(std::vector<LeaseRequest> requests,
                                      std::function<void(LeaseAnswers)> done) {
  const auto step = [this](Connection& db, const LeaseRequest& request) {
    return LeaseOne(db, request);
  };
  return ChangeMany<Trial>("lease", std::move(requests), step, std::move(done));
}

absl::Status PostgresStore::ReleaseMany(std::vector<ReleaseRequest> requests,
                                        std::function<void(ReleaseAnswers)> done) {
  const auto step = [this](Connection& db, const ReleaseRequest& request) {
    return ReleaseOne(db, request);
  };
  return ChangeMany<Trial>("release", std::move(requests), step, std::move(done));
}

absl::Status PostgresStore::SettleMany(std::vector<Settlement> settlements,
                                       std::function<void(SettleAnswers)> done) {
  const auto step = [this](Connection& db, const Settlement& settlement) {
    return SettleOne(db, settlement);
  };
  return ChangeMany<SettleResult>("settle", std::move(settlements), step, std::move(done));
}

absl::Status PostgresStore::GetMany(std::vector<int64_t> trials,
                                    std::function<void(GetAnswers)> done) {
  // By the writer: a reader would block the caller, or need a thread of its own.
  const auto step = [](Connection& db, int64_t id) { return ReadTrial(db, id); };
  return ChangeMany<Trial>("get", std::move(trials), step, std::move(done));
}

absl::StatusOr<Trial> PostgresStore::LeaseOne(Connection& db, const LeaseRequest& request) {
  HONE_RETURN_IF_ERROR(IsWellFormed(request));
  HONE_ASSIGN_OR_RETURN(Trial trial, ReadTrial(db, request.trial));
  HONE_RETURN_IF_ERROR(MayWriteJob(db, trial.job, request.ownership, JobWrite::kLease));
  HONE_RETURN_IF_ERROR(MayLease(trial));
  HONE_ASSIGN_OR_RETURN(const int64_t fence, NextOf(db, "fence"));
  LeaseAs(request, fence, trial);
  HONE_RETURN_IF_ERROR(UpdateTrial(db, trial));
  return trial;
}

absl::StatusOr<Trial> PostgresStore::ReleaseOne(Connection& db, const ReleaseRequest& request) {
  HONE_ASSIGN_OR_RETURN(Trial trial, ReadTrial(db, request.trial));
  HONE_RETURN_IF_ERROR(MayWriteJob(db, trial.job, request.ownership, JobWrite::kLease));
  HONE_RETURN_IF_ERROR(MayRelease(trial, request.fence));
  ReleaseAs(request, trial);
  HONE_RETURN_IF_ERROR(UpdateTrial(db, trial));
  return trial;
}

absl::StatusOr<SettleResult> PostgresStore::SettleOne(Connection& db,
                                                      const Settlement& settlement) {
  const std::optional<Final>& final = settlement.final;
  HONE_RETURN_IF_ERROR(IsWellFormed(settlement.record));
  HONE_ASSIGN_OR_RETURN(Trial trial, ReadTrial(db, settlement.record.trial));
  if (final) {
    HONE_RETURN_IF_ERROR(IsWellFormed(*final));
    HONE_RETURN_IF_ERROR(IsFinalOf(*final, trial, settlement.record));
    HONE_RETURN_IF_ERROR(RequireOwners(db, final->task, final->job));
  }
  const SettleResult result = JudgeSettle(trial, settlement.fence);
  if (result != SettleResult::kSettled) return result;
  HONE_ASSIGN_OR_RETURN(const int64_t record, SettleWith(db, trial, settlement.record));
  if (final) HONE_RETURN_IF_ERROR(PushFinal(db, WonIn(*final, record)).status());
  return result;
}

absl::Status PostgresStore::SetDeviceRest(const DeviceRest& rest) {
  HONE_RETURN_IF_ERROR(IsWellFormed(rest));
  return Change("set_device_rest", [&](Connection& db) { return WriteDeviceRest(db, rest); });
}

absl::StatusOr<std::vector<DeviceRest>> PostgresStore::ListDeviceRests() {
  return readers_.Read([&](Connection& db) { return ReadDeviceRests(db); });
}

}  // namespace hone::tuning_db::postgres
