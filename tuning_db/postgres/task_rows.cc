#include "support/status.h"
#include "tuning_db/postgres/rows.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::postgres {
namespace {

template <typename... Values>
absl::StatusOr<std::vector<Task>> SelectTasks(Connection& db, const std::string& where,
                                              const Values&... values) {
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query("SELECT k.id, w.body, k.workload_digest, k.anchor_digest, g.body FROM tasks k "
               "JOIN texts w ON w.id = k.workload JOIN texts g ON g.id = k.target " +
                   where,
               values...));
  std::vector<Task> tasks;
  for (int i = 0; i < rows.size(); ++i) {
    const Row row = rows[i];
    tasks.push_back(
        {row.Integer(0), row.Text(1), row.DigestText(2), row.DigestText(3), row.Text(4)});
  }
  return tasks;
}

}  // namespace

absl::StatusOr<Task> ReadTask(Connection& db, int64_t id) {
  HONE_ASSIGN_OR_RETURN(std::vector<Task> tasks, SelectTasks(db, "WHERE k.id = $1", id));
  if (tasks.empty()) return NoSuch("task", id);
  return std::move(tasks[0]);
}

absl::StatusOr<std::vector<Task>> ReadTasks(Connection& db, const std::string& workload_digest) {
  return SelectTasks(db, "WHERE k.workload_digest = $1 ORDER BY k.id", Digest{workload_digest});
}

absl::StatusOr<std::vector<Task>> ReadTasksOfJob(Connection& db, int64_t job) {
  HONE_RETURN_IF_ERROR(Require(db, "jobs", "job", job));
  return SelectTasks(db, "JOIN job_tasks j ON j.task = k.id WHERE j.job = $1 ORDER BY j.position",
                     job);
}

absl::StatusOr<std::optional<Task>> FindTask(Connection& db, const std::string& workload_digest,
                                             const std::string& target) {
  HONE_ASSIGN_OR_RETURN(const std::optional<int64_t> text, FindText(db, target));
  if (!text) return std::optional<Task>();
  HONE_ASSIGN_OR_RETURN(std::vector<Task> tasks,
                        SelectTasks(db, "WHERE k.workload_digest = $1 AND k.target = $2",
                                    Digest{workload_digest}, *text));
  if (tasks.empty()) return std::optional<Task>();
  return std::optional<Task>(std::move(tasks[0]));
}

absl::StatusOr<int64_t> EnsureTask(Connection& db, const Task& task) {
  HONE_ASSIGN_OR_RETURN(const auto known, FindTask(db, task.workload_digest, task.target));
  if (known) return known->id;
  HONE_ASSIGN_OR_RETURN(const int64_t workload, Intern(db, task.workload));
  HONE_ASSIGN_OR_RETURN(const int64_t target, Intern(db, task.target));
  return db.Insert(
      "INSERT INTO tasks (id, workload, workload_digest, anchor_digest, target) "
      "VALUES ((SELECT COALESCE(MAX(id), 0) + 1 FROM tasks), $1, $2, $3, $4) RETURNING id",
      workload, Digest{task.workload_digest}, Digest{task.anchor_digest}, target);
}

}  // namespace hone::tuning_db::postgres
