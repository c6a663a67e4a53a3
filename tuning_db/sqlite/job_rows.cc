#include "support/status.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::sqlite {
namespace {

absl::StatusOr<std::vector<JobTask>> ReadJobTasks(Connection& db, int64_t job) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare("SELECT j.task, s.body, j.name, j.weight, j.trials FROM job_tasks j "
                 "JOIN texts s ON s.id = j.signature WHERE j.job = ? ORDER BY j.position"));
  query.Bind(job);
  std::vector<JobTask> tasks;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return tasks;
    tasks.push_back(
        {query.Integer(0), query.Text(1), query.Text(2), query.Real(3), query.Integer(4)});
  }
}

Job JobOf(const Statement& row) {
  Job job;
  job.id = row.Integer(0);
  job.client_id = row.Text(1);
  job.model = row.Text(2);
  job.target = row.Text(3);
  job.seed = static_cast<uint64_t>(row.Integer(4));
  job.priority = static_cast<int>(row.Integer(5));
  job.deadline_ns = row.Integer(6);
  job.search = row.Text(7);
  job.owner = row.Text(8);
  job.epoch = row.Integer(9);
  job.state = row.As<JobState>(10);
  job.message = row.Text(11);
  job.constant_bytes = row.Integer(12);
  job.ran_ns = row.Integer(13);
  job.ends_early = row.Integer(14) != 0;
  job.elsewhere_ns = row.Real(15);
  job.is_private = row.Integer(16) != 0;
  return job;
}

absl::StatusOr<int64_t> NextSeq(Connection& db, int64_t job) {
  HONE_ASSIGN_OR_RETURN(const auto last,
                        db.Integer("SELECT COALESCE(MAX(seq), 0) FROM events WHERE job = ?", job));
  return last.value_or(0) + 1;
}

}  // namespace

absl::StatusOr<std::vector<Job>> ReadJobs(Connection& db, int64_t after_id, int64_t limit) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare("SELECT id, client_id, model, target, seed, priority, deadline_ns, search, owner, "
                 "epoch, state, message, constant_bytes, ran_ns, ends_early, elsewhere_ns, private "
                 "FROM jobs "
                 "WHERE id > ? ORDER BY id LIMIT ?"));
  query.Bind(after_id, limit > 0 ? limit : -1);
  std::vector<Job> jobs;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return jobs;
    jobs.push_back(JobOf(query));
    HONE_ASSIGN_OR_RETURN(jobs.back().tasks, ReadJobTasks(db, jobs.back().id));
  }
}

absl::StatusOr<Job> ReadJob(Connection& db, int64_t id) {
  HONE_ASSIGN_OR_RETURN(std::vector<Job> jobs, ReadJobs(db, id - 1, 1));
  if (jobs.empty() || jobs[0].id != id) return NoSuch("job", id);
  return std::move(jobs[0]);
}

absl::StatusOr<std::optional<int64_t>> FindJob(Connection& db, const std::string& client_id) {
  return db.Integer("SELECT id FROM jobs WHERE client_id = ?", client_id);
}

absl::StatusOr<int64_t> InsertJob(Connection& db, const Job& job) {
  HONE_RETURN_IF_ERROR(
      db.Run("INSERT INTO jobs (client_id, model, target, seed, priority, deadline_ns, search, "
             "owner, epoch, state, message, constant_bytes, ends_early, elsewhere_ns, private) "
             "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
             job.client_id, job.model, job.target, job.seed, job.priority, job.deadline_ns,
             job.search, job.owner, job.epoch, JobState::kQueued, job.message, job.constant_bytes,
             static_cast<int64_t>(job.ends_early), job.elsewhere_ns, job.is_private));
  const int64_t id = db.LastInsertId();
  int64_t position = 0;
  for (const JobTask& task : job.tasks) {
    HONE_RETURN_IF_ERROR(Require(db, "tasks", "task", task.task));
    HONE_ASSIGN_OR_RETURN(const int64_t signature, Intern(db, task.signature));
    HONE_RETURN_IF_ERROR(
        db.Run("INSERT INTO job_tasks (job, position, task, signature, name, weight, trials) "
               "VALUES (?, ?, ?, ?, ?, ?, ?)",
               id, position++, task.task, signature, task.name, task.weight, task.trials));
  }
  return id;
}

absl::StatusOr<int64_t> InsertEvent(Connection& db, const Event& event) {
  HONE_ASSIGN_OR_RETURN(const int64_t seq, NextSeq(db, event.job));
  HONE_RETURN_IF_ERROR(
      db.Run("INSERT INTO events (job, seq, kind, payload, wall_time_ns) VALUES (?, ?, ?, ?, ?)",
             event.job, seq, event.kind, event.payload, event.wall_time_ns));
  return seq;
}

absl::Status InsertSettledEvent(Connection& db, int64_t job, int64_t record) {
  HONE_ASSIGN_OR_RETURN(const int64_t seq, NextSeq(db, job));
  return db.Run("INSERT INTO events (job, seq, record) VALUES (?, ?, ?)", job, seq, record);
}

absl::StatusOr<std::vector<Event>> ReadEvents(Connection& db, int64_t job, int64_t after_seq,
                                              int64_t limit) {
  HONE_ASSIGN_OR_RETURN(Statement query,
                        db.Prepare("SELECT job, seq, kind, payload, wall_time_ns, record FROM "
                                   "events WHERE job = ? AND seq > ? ORDER BY seq LIMIT ?"));
  query.Bind(job, after_seq, limit > 0 ? limit : -1);
  std::vector<Event> events;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return events;
    Event& event = events.emplace_back(
        Event{query.Integer(0), query.Integer(1), query.Text(2), query.Text(3), query.Integer(4)});
    if (query.IsNull(5)) continue;
    HONE_ASSIGN_OR_RETURN(const Record record, ReadRecord(db, query.Integer(5)));
    event.kind = kTrialSettled;
    event.payload = SettledPayload(record.of_trial, record);
    event.wall_time_ns = record.wall_time_ns;
  }
}

}  // namespace hone::tuning_db::sqlite
