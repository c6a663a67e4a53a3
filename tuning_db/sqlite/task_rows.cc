#include "support/status.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::sqlite {
namespace {

constexpr char kSelectTasks[] =
    "SELECT k.id, w.body, k.workload_digest, k.anchor_digest, g.body FROM tasks k "
    "JOIN texts w ON w.id = k.workload JOIN texts g ON g.id = k.target ";

template <typename... Values>
absl::StatusOr<std::vector<Task>> SelectTasks(Connection& db, const std::string& where,
                                              const Values&... values) {
  HONE_ASSIGN_OR_RETURN(Statement query, db.Prepare(kSelectTasks + where));
  query.Bind(values...);
  std::vector<Task> tasks;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return tasks;
    tasks.push_back({query.Integer(0), query.Text(1), query.Text(2), query.Text(3), query.Text(4)});
  }
}

}  // namespace

absl::StatusOr<Task> ReadTask(Connection& db, int64_t id) {
  HONE_ASSIGN_OR_RETURN(std::vector<Task> tasks, SelectTasks(db, "WHERE k.id = ?", id));
  if (tasks.empty()) return NoSuch("task", id);
  return std::move(tasks[0]);
}

absl::StatusOr<std::vector<Task>> ReadTasks(Connection& db, const std::string& workload_digest) {
  return SelectTasks(db, "WHERE k.workload_digest = ? ORDER BY k.id", workload_digest);
}

absl::StatusOr<std::vector<Task>> ReadTasksOfJob(Connection& db, int64_t job) {
  HONE_RETURN_IF_ERROR(Require(db, "jobs", "job", job));
  return SelectTasks(db, "JOIN job_tasks j ON j.task = k.id WHERE j.job = ? ORDER BY j.position",
                     job);
}

absl::StatusOr<std::optional<Task>> FindTask(Connection& db, const std::string& workload_digest,
                                             const std::string& target) {
  HONE_ASSIGN_OR_RETURN(const std::optional<int64_t> text, FindText(db, target));
  if (!text) return std::optional<Task>();
  HONE_ASSIGN_OR_RETURN(
      std::vector<Task> tasks,
      SelectTasks(db, "WHERE k.workload_digest = ? AND k.target = ?", workload_digest, *text));
  if (tasks.empty()) return std::optional<Task>();
  return std::optional<Task>(std::move(tasks[0]));
}

absl::StatusOr<int64_t> EnsureTask(Connection& db, const Task& task) {
  HONE_ASSIGN_OR_RETURN(const auto known, FindTask(db, task.workload_digest, task.target));
  if (known) return known->id;
  HONE_ASSIGN_OR_RETURN(const int64_t workload, Intern(db, task.workload));
  HONE_ASSIGN_OR_RETURN(const int64_t target, Intern(db, task.target));
  HONE_RETURN_IF_ERROR(
      db.Run("INSERT INTO tasks (workload, workload_digest, anchor_digest, target) "
             "VALUES (?, ?, ?, ?)",
             workload, task.workload_digest, task.anchor_digest, target));
  return db.LastInsertId();
}

}  // namespace hone::tuning_db::sqlite
