#include <fmt/format.h>

#include <map>
#include <utility>

#include "support/status.h"
#include "tuning_db/conditions.h"
#include "tuning_db/cursor.h"
#include "tuning_db/postgres/listener.h"
#include "tuning_db/postgres/rows.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::postgres {
namespace {

Job JobOf(const Row& row) {
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
  job.message = row.Bytes(11);
  job.constant_bytes = row.Integer(12);
  job.ran_ns = row.Integer(13);
  job.ends_early = row.Integer(14) != 0;
  job.elsewhere_ns = row.Real(15);
  job.is_private = row.Integer(16) != 0;
  job.submitter = row.Text(17);
  job.submitted_at_ns = row.Integer(18);
  job.sandbox = static_cast<int>(row.Integer(19));
  job.device_class = row.Text(20);
  job.request_digest = row.Text(21);
  return job;
}

template <typename... Values>
absl::StatusOr<std::vector<Job>> SelectJobs(Connection& db, const std::string& where,
                                            const Values&... values) {
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query("SELECT id, client_id, model, target, seed, priority, deadline_ns, search, owner, "
               "epoch, state, message, constant_bytes, ran_ns, ends_early, elsewhere_ns, private, "
               "submitter, submitted_at_ns, sandbox, device_class, request_digest "
               "FROM jobs " +
                   where,
               values...));
  std::vector<Job> jobs;
  std::map<int64_t, size_t> places;
  for (int i = 0; i < rows.size(); ++i) {
    jobs.push_back(JobOf(rows[i]));
    places[jobs.back().id] = jobs.size() - 1;
  }
  HONE_ASSIGN_OR_RETURN(
      const Rows tasks,
      db.Query("SELECT j.job, j.task, s.body, j.name, j.weight, j.trials FROM job_tasks j "
               "JOIN texts s ON s.id = j.signature WHERE j.job = ANY($1::bigint[]) "
               "ORDER BY j.job, j.position",
               IdsOf(rows)));
  for (int i = 0; i < tasks.size(); ++i) {
    const Row row = tasks[i];
    jobs[places[row.Integer(0)]].tasks.push_back(
        {row.Integer(1), row.Text(2), row.Text(3), row.Real(4), row.Integer(5)});
  }
  return jobs;
}

// The number of the job's next event, as an expression; `job` is one, too.
std::string NextSeq(const std::string& job) {
  return "(SELECT COALESCE(MAX(seq), 0) + 1 FROM events WHERE job = " + job + ")";
}

// Jobs j that have not ended and want the task $1 with the signature $2, and the job $3.
std::string JobsToTell() {
  return fmt::format(
      "FROM jobs j WHERE j.{} AND (j.id = $3 OR EXISTS (SELECT FROM job_tasks w "
      "WHERE w.job = j.id AND w.task = $1 AND w.signature = $2))",
      kHasNotEnded);
}

// Events are added, and each job's listeners are told of it.
std::string Told(const std::string& insert) {
  return fmt::format("WITH told AS ({} RETURNING job) SELECT pg_notify('{}', job::text) FROM told",
                     insert, kChannel);
}

}  // namespace

absl::StatusOr<JobPage> ReadJobs(Connection& db, const JobFilter& filter, Order order,
                                 const std::string& cursor, int64_t limit) {
  HONE_ASSIGN_OR_RETURN(const int64_t after, FromCursor(order, cursor));
  std::vector<int64_t> states;
  for (const JobState state : filter.states) states.push_back(static_cast<int64_t>(state));
  const bool is_newest_first = order == Order::kNewestFirst;
  JobPage page{.jobs = {}, .next = cursor, .is_last = true};
  // One more says whether the page is the last.
  HONE_ASSIGN_OR_RETURN(
      page.jobs,
      SelectJobs(db,
                 fmt::format("WHERE id {} $1 AND ($2 OR submitter = $3) AND ($4 OR state = "
                             "ANY($5::smallint[])) AND ($6 OR strpos(target, $7) > 0) AND "
                             "($8 OR strpos(model, $9) > 0) AND submitted_at_ns >= $10 "
                             "ORDER BY id {} LIMIT $11",
                             is_newest_first ? '<' : '>', is_newest_first ? "DESC" : ""),
                 after, filter.submitter.empty(), filter.submitter, states.empty(), states,
                 filter.target.empty(), filter.target, filter.model.empty(), filter.model,
                 filter.submitted_since_ns, limit > 0 ? std::optional(limit + 1) : std::nullopt));
  if (limit > 0 && static_cast<int64_t>(page.jobs.size()) > limit) {
    page.jobs.pop_back();
    page.is_last = false;
  }
  if (!page.jobs.empty()) page.next = ToCursor(order, page.jobs.back().id);
  return page;
}

absl::StatusOr<std::vector<Job>> ReadJobs(Connection& db, const std::vector<int64_t>& ids) {
  return SelectJobs(db, "WHERE id = ANY($1::bigint[]) ORDER BY id", ids);
}

absl::StatusOr<Job> ReadJob(Connection& db, int64_t id) {
  HONE_ASSIGN_OR_RETURN(std::vector<Job> jobs, ReadJobs(db, std::vector<int64_t>{id}));
  if (jobs.empty()) return NoSuch("job", id);
  return std::move(jobs[0]);
}

absl::StatusOr<std::optional<int64_t>> FindJob(Connection& db, const std::string& client_id) {
  return db.Integer("SELECT id FROM jobs WHERE client_id = $1", client_id);
}

absl::StatusOr<int64_t> InsertJob(Connection& db, const Job& job) {
  for (const JobTask& task : job.tasks) {
    HONE_RETURN_IF_ERROR(Require(db, "tasks", "task", task.task));
  }
  HONE_ASSIGN_OR_RETURN(
      const int64_t id,
      db.Insert(
          "INSERT INTO jobs (id, client_id, model, target, seed, priority, deadline_ns, search, "
          "owner, epoch, state, message, constant_bytes, ends_early, elsewhere_ns, private, "
          "submitter, submitted_at_ns, sandbox, device_class, request_digest) "
          "VALUES ((SELECT COALESCE(MAX(id), 0) + 1 FROM jobs), $1, $2, $3, $4, $5, $6, $7, $8, "
          "$9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) "
          "RETURNING id",
          job.client_id, job.model, job.target, static_cast<int64_t>(job.seed), job.priority,
          job.deadline_ns, job.search, job.owner, job.epoch, JobState::kQueued, Bytes{job.message},
          job.constant_bytes, job.ends_early, job.elsewhere_ns, job.is_private, job.submitter,
          job.submitted_at_ns, job.sandbox, job.device_class, job.request_digest));
  int64_t position = 0;
  for (const JobTask& task : job.tasks) {
    HONE_ASSIGN_OR_RETURN(const int64_t signature, Intern(db, task.signature));
    HONE_RETURN_IF_ERROR(
        db.Change("INSERT INTO job_tasks (job, position, task, signature, name, weight, trials) "
                  "VALUES ($1, $2, $3, $4, $5, $6, $7)",
                  id, position++, task.task, signature, task.name, task.weight, task.trials));
  }
  return id;
}

absl::Status TellListeners(Connection& db, int64_t job) {
  return db.Query("SELECT pg_notify($1, $2)", kChannel, std::to_string(job)).status();
}

absl::StatusOr<int64_t> InsertEvent(Connection& db, const Event& event) {
  HONE_RETURN_IF_ERROR(TellListeners(db, event.job));
  return db.Insert("INSERT INTO events (job, seq, kind, payload, wall_time_ns) VALUES ($1, " +
                       NextSeq("$1") + ", $2, $3, $4) RETURNING seq",
                   event.job, event.kind, event.payload, event.wall_time_ns);
}

absl::Status TellJobs(Connection& db, int64_t task, const std::string& signature,
                      const Event& event) {
  HONE_ASSIGN_OR_RETURN(const int64_t text, Intern(db, signature));
  return db.Change(Told("INSERT INTO events (job, seq, kind, payload, wall_time_ns) SELECT j.id, " +
                        NextSeq("j.id") + ", $4, $5, $6 " + JobsToTell()),
                   task, text, event.job, event.kind, event.payload, event.wall_time_ns);
}

absl::Status TellJobsOfRecord(Connection& db, const Trial& trial, int64_t record) {
  HONE_ASSIGN_OR_RETURN(const int64_t text, Intern(db, trial.signature));
  return db.Change(Told("INSERT INTO events (job, seq, record) SELECT j.id, " + NextSeq("j.id") +
                        ", $4 " + JobsToTell()),
                   trial.task, text, trial.job, record);
}

absl::StatusOr<std::vector<Event>> ReadEvents(Connection& db, int64_t job, int64_t after_seq,
                                              int64_t limit) {
  HONE_ASSIGN_OR_RETURN(const Rows rows,
                        db.Query("SELECT job, seq, kind, payload, wall_time_ns, record FROM "
                                 "events WHERE job = $1 AND seq > $2 ORDER BY seq LIMIT $3",
                                 job, after_seq, limit > 0 ? std::optional(limit) : std::nullopt));
  std::vector<Event> events;
  std::vector<int64_t> ids;
  std::multimap<int64_t, size_t> places;  // of events that a record tells
  for (int i = 0; i < rows.size(); ++i) {
    const Row row = rows[i];
    events.push_back({row.Integer(0), row.Integer(1), row.Text(2), row.Text(3), row.Integer(4)});
    if (row.IsNull(5)) continue;
    ids.push_back(row.Integer(5));
    places.emplace(row.Integer(5), events.size() - 1);
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<Record> records, ReadRecords(db, ids));
  for (const Record& record : records) {
    const auto [begin, end] = places.equal_range(record.id);
    for (auto place = begin; place != end; ++place) {
      Event& event = events[place->second];
      event.kind = kTrialSettled;
      event.payload = SettledPayload(record.of_trial, record);
      event.wall_time_ns = record.wall_time_ns;
    }
  }
  return events;
}

}  // namespace hone::tuning_db::postgres
