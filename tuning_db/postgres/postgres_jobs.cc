// Jobs of the store in PostgreSQL.
#include <utility>

#include "support/status.h"
#include "tuning_db/postgres/postgres_store.h"
#include "tuning_db/postgres/rows.h"
#include "tuning_db/transitions.h"
#include "tuning_db/well_formed.h"

namespace hone::tuning_db::postgres {

absl::StatusOr<Ownership> PostgresStore::BeginEpoch(const std::string& owner, int64_t lease_ns) {
  HONE_RETURN_IF_ERROR(MayBegin(owner));
  return Change<Ownership>("begin_epoch",
                           [&](Connection& db) { return InsertLife(db, owner, lease_ns); });
}

absl::StatusOr<std::vector<Job>> PostgresStore::TakeJobs(const Ownership& ownership,
                                                         int64_t lease_ns) {
  using Jobs = std::vector<Job>;
  return Change<Jobs>("take_jobs", [&](Connection& db) -> absl::StatusOr<Jobs> {
    HONE_ASSIGN_OR_RETURN(const int64_t left_ns, TimeLeft(db, ownership));
    HONE_RETURN_IF_ERROR(RenewLife(db, ownership, lease_ns));
    if (!MayTake(left_ns, lease_ns)) return Jobs();
    HONE_ASSIGN_OR_RETURN(const auto ids, TakeLostJobs(db, ownership));
    return ReadJobs(db, ids);
  });
}

absl::StatusOr<std::vector<int64_t>> PostgresStore::RenewJobs(const Ownership& ownership,
                                                              int64_t lease_ns) {
  using Ids = std::vector<int64_t>;
  return Change<Ids>("renew_jobs", [&](Connection& db) -> absl::StatusOr<Ids> {
    HONE_RETURN_IF_ERROR(RenewLife(db, ownership, lease_ns));
    return OwnUnfinishedJobs(db, ownership.epoch);
  });
}

absl::StatusOr<Job> PostgresStore::SubmitJob(const Job& job) {
  HONE_RETURN_IF_ERROR(IsWellFormed(job));
  return Change<Job>("submit_job", [&](Connection& db) -> absl::StatusOr<Job> {
    HONE_ASSIGN_OR_RETURN(std::optional<int64_t> id, FindJob(db, job.client_id));
    if (!id) {
      Job row = job;
      row.submitted_at_ns = clock_.WallTimeNs();
      HONE_ASSIGN_OR_RETURN(id, InsertJob(db, row));
      HONE_RETURN_IF_ERROR(TellListeners(db, *id));
    }
    HONE_ASSIGN_OR_RETURN(Job stored, ReadJob(db, *id));
    HONE_RETURN_IF_ERROR(IsSameRequest(stored, job));
    return stored;
  });
}

absl::StatusOr<Job> PostgresStore::GetJob(int64_t id) {
  return readers_.Read([&](Connection& db) { return ReadJob(db, id); });
}

absl::StatusOr<std::optional<Job>> PostgresStore::JobOfClient(const std::string& client_id) {
  using Found = std::optional<Job>;
  return readers_.Read([&](Connection& db) -> absl::StatusOr<Found> {
    HONE_ASSIGN_OR_RETURN(const std::optional<int64_t> id, FindJob(db, client_id));
    if (!id) return Found();
    HONE_ASSIGN_OR_RETURN(Job job, ReadJob(db, *id));
    return Found(std::move(job));
  });
}

absl::StatusOr<JobPage> PostgresStore::ListJobs(const JobFilter& filter, Order order,
                                                const std::string& cursor, int64_t limit) {
  HONE_RETURN_IF_ERROR(IsWellFormed(filter));
  return readers_.Read([&](Connection& db) { return ReadJobs(db, filter, order, cursor, limit); });
}

absl::StatusOr<std::vector<Task>> PostgresStore::TasksOfJob(int64_t job) {
  return readers_.Read([&](Connection& db) { return ReadTasksOfJob(db, job); });
}

absl::Status PostgresStore::SetJobState(const Ownership& ownership, int64_t id, JobState state,
                                        const std::string& message) {
  return Change("set_job_state", [&](Connection& db) -> absl::Status {
    HONE_ASSIGN_OR_RETURN(const Job job, ReadJob(db, id));
    HONE_RETURN_IF_ERROR(MayWriteJob(db, id, ownership));
    HONE_RETURN_IF_ERROR(MaySetState(job, state));
    if (HasEnded(job.state)) return absl::OkStatus();
    HONE_RETURN_IF_ERROR(db.Change("UPDATE jobs SET state = $2, message = $3 WHERE id = $1", id,
                                   state, Bytes{message}));
    if (HasEnded(state)) HONE_RETURN_IF_ERROR(KeepProgress(db, id));
    return InsertEvent(db, {id, 0, "state", StatePayload(state, message), clock_.WallTimeNs()})
        .status();
  });
}

absl::Status PostgresStore::SetJobRan(const Ownership& ownership, int64_t id, int64_t ran_ns) {
  return Change("set_job_ran", [&](Connection& db) -> absl::Status {
    HONE_ASSIGN_OR_RETURN(const Job job, ReadJob(db, id));
    HONE_RETURN_IF_ERROR(MayWriteJob(db, id, ownership));
    HONE_RETURN_IF_ERROR(MaySetRan(job));
    return db.Change("UPDATE jobs SET ran_ns = $2 WHERE id = $1", id, ran_ns);
  });
}

absl::StatusOr<std::vector<std::vector<TaskProgress>>> PostgresStore::ProgressOfJobs(
    const std::vector<int64_t>& jobs) {
  return readers_.Read([&](Connection& db) { return ReadProgress(db, jobs); });
}

absl::StatusOr<int64_t> PostgresStore::AppendEvent(const Ownership& ownership, int64_t job,
                                                   const std::string& kind,
                                                   const std::string& payload) {
  HONE_RETURN_IF_ERROR(IsText("an event's kind", kind));
  HONE_RETURN_IF_ERROR(IsText("an event's payload", payload));
  return Change<int64_t>("append_event", [&](Connection& db) -> absl::StatusOr<int64_t> {
    HONE_RETURN_IF_ERROR(MayWriteJob(db, job, ownership));
    HONE_ASSIGN_OR_RETURN(const Job row, ReadJob(db, job));
    HONE_RETURN_IF_ERROR(MayHappen(row));
    return InsertEvent(db, {job, 0, kind, payload, clock_.WallTimeNs()});
  });
}

absl::StatusOr<std::vector<Event>> PostgresStore::ListEvents(int64_t job, int64_t after_seq,
                                                             int64_t limit) {
  return readers_.Read([&](Connection& db) -> absl::StatusOr<std::vector<Event>> {
    HONE_RETURN_IF_ERROR(Require(db, "jobs", "job", job));
    return ReadEvents(db, job, after_seq, limit);
  });
}

std::unique_ptr<Subscription> PostgresStore::Subscribe(
    std::function<void(const tuning_db::Change& change)> on_change) {
  std::unique_ptr<Subscription> subscription = subscribers_.Add(std::move(on_change));
  const std::lock_guard lock(listener_mutex_);
  if (listener_ == nullptr) {
    listener_ =
        std::make_unique<Listener>(address_, [this](int64_t job) { subscribers_.Tell({job}); });
  }
  return subscription;
}

}  // namespace hone::tuning_db::postgres
