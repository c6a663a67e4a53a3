#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <ranges>

#include "support/status.h"
#include "tuning_db/cursor.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::sqlite {
namespace {

// The tasks of all of these jobs, which have none yet.
absl::Status ReadJobTasks(Connection& db, std::vector<Job>& jobs) {
  std::map<int64_t, Job*> by_id;
  for (Job& job : jobs) by_id[job.id] = &job;
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare("SELECT j.job, j.task, s.body, j.name, j.weight, j.trials FROM job_tasks j "
                 "JOIN texts s ON s.id = j.signature "
                 "WHERE j.job IN (SELECT value FROM json_each(?)) ORDER BY j.job, j.position"));
  query.Bind(fmt::format("[{}]", fmt::join(std::views::keys(by_id), ",")));
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return absl::OkStatus();
    by_id.at(query.Integer(0))
        ->tasks.push_back(
            {query.Integer(1), query.Text(2), query.Text(3), query.Real(4), query.Integer(5)});
  }
}

constexpr char kSelectJobs[] =
    "SELECT id, client_id, model, target, seed, priority, deadline_ns, search, owner, epoch, "
    "state, message, constant_bytes, ran_ns, ends_early, elsewhere_ns, private, submitter, "
    "submitted_at_ns, sandbox, device_class, request_digest FROM jobs ";

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
  job.submitter = row.Text(17);
  job.submitted_at_ns = row.Integer(18);
  job.sandbox = static_cast<int>(row.Integer(19));
  job.device_class = row.Text(20);
  job.request_digest = row.Text(21);
  return job;
}

absl::StatusOr<int64_t> NextSeq(Connection& db, int64_t job) {
  HONE_ASSIGN_OR_RETURN(const auto last,
                        db.Integer("SELECT COALESCE(MAX(seq), 0) FROM events WHERE job = ?", job));
  return last.value_or(0) + 1;
}

}  // namespace

absl::StatusOr<JobPage> ReadJobs(Connection& db, const JobFilter& filter, Order order,
                                 const std::string& cursor, int64_t limit) {
  HONE_ASSIGN_OR_RETURN(const int64_t after, FromCursor(order, cursor));
  const bool is_newest_first = order == Order::kNewestFirst;
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare(fmt::format("{}WHERE id {} ?1 AND (?2 = '' OR submitter = ?2) AND (?3 = '[]' OR "
                             "state IN (SELECT value FROM json_each(?3))) AND "
                             "(?4 = '' OR instr(target, ?4) > 0) AND "
                             "(?5 = '' OR instr(model, ?5) > 0) AND submitted_at_ns >= ?6 "
                             "ORDER BY id {} LIMIT ?7",
                             kSelectJobs, is_newest_first ? '<' : '>',
                             is_newest_first ? "DESC" : "")));
  std::vector<int> states;
  for (const JobState state : filter.states) states.push_back(static_cast<int>(state));
  // One more says whether the page is the last.
  query.Bind(after, filter.submitter, fmt::format("[{}]", fmt::join(states, ",")), filter.target,
             filter.model, filter.submitted_since_ns, limit > 0 ? limit + 1 : -1);
  JobPage page{.jobs = {}, .next = cursor, .is_last = true};
  while (page.is_last) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) break;
    if (limit > 0 && static_cast<int64_t>(page.jobs.size()) == limit) {
      page.is_last = false;
    } else {
      page.jobs.push_back(JobOf(query));
    }
  }
  if (!page.jobs.empty()) page.next = ToCursor(order, page.jobs.back().id);
  HONE_RETURN_IF_ERROR(ReadJobTasks(db, page.jobs));
  return page;
}

absl::StatusOr<Job> ReadJob(Connection& db, int64_t id) {
  HONE_ASSIGN_OR_RETURN(Statement query, db.Prepare(std::string(kSelectJobs) + "WHERE id = ?"));
  query.Bind(id);
  HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
  if (!has_row) return NoSuch("job", id);
  std::vector<Job> jobs = {JobOf(query)};
  HONE_RETURN_IF_ERROR(ReadJobTasks(db, jobs));
  return std::move(jobs[0]);
}

absl::StatusOr<std::optional<int64_t>> FindJob(Connection& db, const std::string& client_id) {
  return db.Integer("SELECT id FROM jobs WHERE client_id = ?", client_id);
}

absl::StatusOr<int64_t> InsertJob(Connection& db, const Job& job) {
  HONE_RETURN_IF_ERROR(db.Run(
      "INSERT INTO jobs (client_id, model, target, seed, priority, deadline_ns, search, "
      "submitter, owner, epoch, state, message, constant_bytes, ran_ns, ends_early, "
      "elsewhere_ns, private, submitted_at_ns, sandbox, device_class, request_digest) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?)",
      job.client_id, job.model, job.target, job.seed, job.priority, job.deadline_ns, job.search,
      job.submitter, job.owner, job.epoch, JobState::kQueued, job.message, job.constant_bytes,
      static_cast<int64_t>(job.ends_early), job.elsewhere_ns, job.is_private, job.submitted_at_ns,
      job.sandbox, job.device_class, job.request_digest));
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
