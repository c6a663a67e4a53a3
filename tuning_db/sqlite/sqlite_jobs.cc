// Jobs of the store in SQLite.
#include <utility>

#include "support/status.h"
#include "tuning_db/sqlite/progress_rows.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/sqlite/sqlite_store.h"
#include "tuning_db/transitions.h"
#include "tuning_db/well_formed.h"

namespace hone::tuning_db::sqlite {

absl::StatusOr<Ownership> SqliteStore::BeginEpoch(const std::string& owner, int64_t lease_ns) {
  HONE_RETURN_IF_ERROR(MayBegin(owner));
  return Change<Ownership>("begin_epoch", [&](Connection& db) {
    return InsertLife(db, owner, clock_.WallTimeNs() + lease_ns);
  });
}

// We are the one writer: whoever owned jobs before has gone.
absl::StatusOr<std::vector<Job>> SqliteStore::TakeJobs(const Ownership& ownership,
                                                       int64_t lease_ns) {
  using Jobs = std::vector<Job>;
  return Change<Jobs>("take_jobs", [&](Connection& db) -> absl::StatusOr<Jobs> {
    const int64_t now_ns = clock_.WallTimeNs();
    HONE_ASSIGN_OR_RETURN(const int64_t until_ns, ReadLife(db, ownership));
    HONE_RETURN_IF_ERROR(RenewLife(db, ownership, now_ns + lease_ns));
    if (!MayTake(until_ns - now_ns, lease_ns)) return Jobs();
    HONE_ASSIGN_OR_RETURN(const auto ids, OwnUnfinishedJobs(db, ownership.epoch, /*is_own=*/false));
    Jobs taken;
    for (const int64_t id : ids) {
      HONE_RETURN_IF_ERROR(db.Run("UPDATE jobs SET owner = ?, epoch = ? WHERE id = ?",
                                  ownership.owner, ownership.epoch, id));
      HONE_ASSIGN_OR_RETURN(taken.emplace_back(), ReadJob(db, id));
    }
    return taken;
  });
}

absl::StatusOr<std::vector<int64_t>> SqliteStore::RenewJobs(const Ownership& ownership,
                                                            int64_t lease_ns) {
  using Ids = std::vector<int64_t>;
  return Change<Ids>("renew_jobs", [&](Connection& db) -> absl::StatusOr<Ids> {
    HONE_RETURN_IF_ERROR(RenewLife(db, ownership, clock_.WallTimeNs() + lease_ns));
    return OwnUnfinishedJobs(db, ownership.epoch, /*is_own=*/true);
  });
}

absl::StatusOr<Job> SqliteStore::SubmitJob(const Job& job) {
  HONE_RETURN_IF_ERROR(IsWellFormed(job));
  return Change<Job>("submit_job", [&](Connection& db) -> absl::StatusOr<Job> {
    HONE_ASSIGN_OR_RETURN(std::optional<int64_t> id, FindJob(db, job.client_id));
    if (!id) {
      Job row = job;
      row.submitted_at_ns = clock_.WallTimeNs();
      HONE_ASSIGN_OR_RETURN(id, InsertJob(db, row));
      Changed(*id);
    }
    HONE_ASSIGN_OR_RETURN(Job stored, ReadJob(db, *id));
    HONE_RETURN_IF_ERROR(IsSameRequest(stored, job));
    return stored;
  });
}

absl::StatusOr<Job> SqliteStore::GetJob(int64_t id) {
  return readers_.Read([&](Connection& db) { return ReadJob(db, id); });
}

absl::StatusOr<std::optional<Job>> SqliteStore::JobOfClient(const std::string& client_id) {
  using Found = std::optional<Job>;
  return readers_.Read([&](Connection& db) -> absl::StatusOr<Found> {
    HONE_ASSIGN_OR_RETURN(const std::optional<int64_t> id, FindJob(db, client_id));
    if (!id) return Found();
    HONE_ASSIGN_OR_RETURN(Job job, ReadJob(db, *id));
    return Found(std::move(job));
  });
}

absl::StatusOr<JobPage> SqliteStore::ListJobs(const JobFilter& filter, Order order,
                                              const std::string& cursor, int64_t limit) {
  HONE_RETURN_IF_ERROR(IsWellFormed(filter));
  return readers_.Read([&](Connection& db) { return ReadJobs(db, filter, order, cursor, limit); });
}

absl::StatusOr<std::vector<Task>> SqliteStore::TasksOfJob(int64_t job) {
  return readers_.Read([&](Connection& db) { return ReadTasksOfJob(db, job); });
}

absl::Status SqliteStore::SetJobState(const Ownership& ownership, int64_t id, JobState state,
                                      const std::string& message) {
  return Change("set_job_state", [&](Connection& db) -> absl::Status {
    HONE_ASSIGN_OR_RETURN(const Job job, ReadJob(db, id));
    HONE_RETURN_IF_ERROR(MayWriteJob(db, id, ownership));
    HONE_RETURN_IF_ERROR(MaySetState(job, state));
    if (HasEnded(job.state)) return absl::OkStatus();
    HONE_RETURN_IF_ERROR(
        db.Run("UPDATE jobs SET state = ?, message = ? WHERE id = ?", state, message, id));
    if (HasEnded(state)) HONE_RETURN_IF_ERROR(KeepProgress(db, id));
    return AddEvent(db, id, "state", StatePayload(state, message)).status();
  });
}

absl::Status SqliteStore::SetJobRan(const Ownership& ownership, int64_t id, int64_t ran_ns) {
  return Change("set_job_ran", [&](Connection& db) -> absl::Status {
    HONE_ASSIGN_OR_RETURN(const Job job, ReadJob(db, id));
    HONE_RETURN_IF_ERROR(MayWriteJob(db, id, ownership));
    HONE_RETURN_IF_ERROR(MaySetRan(job));
    return db.Run("UPDATE jobs SET ran_ns = ? WHERE id = ?", ran_ns, id);
  });
}

absl::StatusOr<std::vector<std::vector<TaskProgress>>> SqliteStore::ProgressOfJobs(
    const std::vector<int64_t>& jobs) {
  return readers_.Read([&](Connection& db) { return ReadProgress(db, jobs); });
}

absl::StatusOr<int64_t> SqliteStore::AppendEvent(const Ownership& ownership, int64_t job,
                                                 const std::string& kind,
                                                 const std::string& payload) {
  HONE_RETURN_IF_ERROR(IsText("an event's kind", kind));
  HONE_RETURN_IF_ERROR(IsText("an event's payload", payload));
  return Change<int64_t>("append_event", [&](Connection& db) -> absl::StatusOr<int64_t> {
    HONE_RETURN_IF_ERROR(MayWriteJob(db, job, ownership));
    HONE_ASSIGN_OR_RETURN(const Job row, ReadJob(db, job));
    HONE_RETURN_IF_ERROR(MayHappen(row));
    return AddEvent(db, job, kind, payload);
  });
}

absl::StatusOr<std::vector<Event>> SqliteStore::ListEvents(int64_t job, int64_t after_seq,
                                                           int64_t limit) {
  return readers_.Read([&](Connection& db) -> absl::StatusOr<std::vector<Event>> {
    HONE_RETURN_IF_ERROR(Require(db, "jobs", "job", job));
    return ReadEvents(db, job, after_seq, limit);
  });
}

absl::StatusOr<int64_t> SqliteStore::AddEvent(Connection& db, int64_t job, const std::string& kind,
                                              const std::string& payload) {
  Changed(job);
  return InsertEvent(db, {job, 0, kind, payload, clock_.WallTimeNs()});
}

}  // namespace hone::tuning_db::sqlite
