// How far tasks have come, kept by the transactions that settle.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "support/status.h"
#include "tuning_db/conditions.h"
#include "tuning_db/postgres/rows.h"
#include "tuning_db/progress_text.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::postgres {
namespace {

// Records that are progress, as IsProgress says. `where` narrows them down.
std::string Counted(const std::string& where) {
  return fmt::format(
      "FROM records r WHERE r.purpose IN ({}, {}) AND r.outcome <> {} AND NOT EXISTS "
      "(SELECT FROM retractions x WHERE x.record = r.id) {}",
      static_cast<int>(Purpose::kSearch), static_cast<int>(Purpose::kCalibrate),
      static_cast<int>(Outcome::kCancelled), where);
}

// What records give, as rows of task_progress and of job_progress.
std::string TaskSums(const std::string& where) {
  return fmt::format(
      "SELECT g.task, g.signature, g.trials, g.first_trial, "
      "COALESCE((SELECT median_ns FROM records WHERE trial = g.first_trial), 0), g.best_ns "
      "FROM (SELECT r.task, r.signature, COUNT(*) AS trials, MIN(r.trial) AS first_trial, "
      "COALESCE(MIN(r.median_ns) FILTER (WHERE r.outcome = 0 AND r.median_ns > 0), 0) AS best_ns "
      "{} GROUP BY r.task, r.signature) g",
      Counted(where));
}

std::string JobSums(const std::string& where) {
  return fmt::format(
      "SELECT r.job, r.task, r.signature, COUNT(*), COUNT(*) FILTER (WHERE r.outcome <> 0) {} "
      "AND r.job IS NOT NULL GROUP BY r.job, r.task, r.signature",
      Counted(where));
}

TaskProgress ProgressOf(const Row& row) {
  TaskProgress progress;
  progress.task = row.Integer(0);
  progress.signature = row.Text(1);
  progress.workload_digest = row.DigestText(2);
  progress.trials = row.Integer(3);  // NULL is 0: nothing is settled yet
  progress.job_trials = row.Integer(4);
  progress.job_failures = row.Integer(5);
  if (progress.trials > 0) {
    progress.default_ns = row.Real(6);
    progress.best_ns = row.Real(7);
  }
  if (!row.IsNull(8)) {
    const double default_ns = row.Real(11);
    progress.final = FinalFigures{.distinct_trials = row.Integer(8),
                                  .space_size = row.Integer(9),
                                  .ended_share = row.Real(10),
                                  .default_ns = default_ns,
                                  .winner_ns = default_ns / row.Real(12)};
  }
  return progress;
}

absl::Status ComplainOf(Connection& db, const std::string& table, const std::string& sums,
                        std::vector<std::string>& complaints) {
  const std::string rows = "SELECT * FROM " + table;
  HONE_ASSIGN_OR_RETURN(
      const auto wrong,
      db.Integer(fmt::format(
          "SELECT COUNT(*) FROM ((({0}) EXCEPT ({1})) UNION (({1}) EXCEPT ({0}))) w", rows, sums)));
  if (wrong.value_or(0) > 0) {
    complaints.push_back(fmt::format("{} rows of {} are not what the records give", *wrong, table));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AddProgress(Connection& db, const Trial& trial, const Record& record) {
  if (!IsProgress(trial.purpose, record.outcome)) return absl::OkStatus();
  const bool is_ok = record.outcome == Outcome::kOk;
  const double median_ns = std::isnan(record.median_ns) ? 0 : record.median_ns;
  HONE_ASSIGN_OR_RETURN(const int64_t signature, Intern(db, trial.signature));
  HONE_RETURN_IF_ERROR(db.Change(
      "INSERT INTO task_progress AS p (task, signature, trials, first_trial, default_ns, best_ns) "
      "VALUES ($1, $2, 1, $3, $4, $5) ON CONFLICT (task, signature) DO UPDATE SET "
      "trials = p.trials + 1, "
      "default_ns = CASE WHEN excluded.first_trial < p.first_trial THEN excluded.default_ns "
      "ELSE p.default_ns END, "
      "first_trial = LEAST(p.first_trial, excluded.first_trial), "
      "best_ns = CASE WHEN excluded.best_ns > 0 AND (p.best_ns = 0 OR excluded.best_ns < "
      "p.best_ns) THEN excluded.best_ns ELSE p.best_ns END",
      trial.task, signature, trial.id, median_ns, is_ok && median_ns > 0 ? median_ns : 0.0));
  if (trial.job == 0) return absl::OkStatus();
  return db.Change(
      "INSERT INTO job_progress AS p (job, task, signature, trials, failures) "
      "VALUES ($1, $2, $3, 1, $4) ON CONFLICT (job, task, signature) DO UPDATE SET "
      "trials = p.trials + 1, failures = p.failures + excluded.failures",
      trial.job, trial.task, signature, is_ok ? 0 : 1);
}

absl::Status RecountProgress(Connection& db, int64_t task, int64_t signature) {
  const std::string where = " WHERE task = $1 AND signature = $2";
  HONE_RETURN_IF_ERROR(db.Change("DELETE FROM task_progress" + where, task, signature));
  HONE_RETURN_IF_ERROR(db.Change("DELETE FROM job_progress" + where, task, signature));
  const std::string of_task = "AND r.task = $1 AND r.signature = $2";
  HONE_RETURN_IF_ERROR(
      db.Change("INSERT INTO task_progress " + TaskSums(of_task), task, signature));
  return db.Change("INSERT INTO job_progress " + JobSums(of_task), task, signature);
}

absl::StatusOr<std::vector<std::vector<TaskProgress>>> ReadProgress(
    Connection& db, const std::vector<int64_t>& jobs) {
  std::map<int64_t, std::vector<TaskProgress>> by_job;
  for (const int64_t job : jobs) {
    HONE_RETURN_IF_ERROR(Require(db, "jobs", "job", job));
  }
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query("SELECT j.task, s.body, k.workload_digest, p.trials, o.trials, o.failures, "
               "p.default_ns, p.best_ns, f.distinct_trials, f.space_size, f.ended_share, "
               "d.median_ns, w.ratio_to_default, j.job "
               "FROM job_tasks j JOIN texts s ON s.id = j.signature JOIN tasks k ON k.id = j.task "
               "LEFT JOIN task_progress p ON p.task = j.task AND p.signature = j.signature "
               "LEFT JOIN job_progress o ON o.job = j.job AND o.task = j.task "
               "AND o.signature = j.signature "
               "LEFT JOIN finals f ON f.id = (SELECT MAX(f.id) FROM finals f "
               "WHERE f.task = j.task AND f.signature = j.signature AND " +
                   std::string(kFinalCounts) +
                   ") "
                   "LEFT JOIN final_entries d ON d.final = f.id AND d.position = f.default_entry "
                   "LEFT JOIN final_entries w ON w.final = f.id AND w.position = f.winner "
                   "WHERE j.job = ANY($1::bigint[]) ORDER BY j.job, j.position",
               jobs));
  for (int i = 0; i < rows.size(); ++i) {
    by_job[rows[i].Integer(13)].push_back(ProgressOf(rows[i]));
  }
  HONE_ASSIGN_OR_RETURN(
      const Rows kept,
      db.Query("SELECT job, progress FROM job_ends WHERE job = ANY($1::bigint[])", jobs));
  for (int i = 0; i < kept.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(by_job[kept[i].Integer(0)], ProgressFromText(kept[i].Text(1)));
  }
  std::vector<std::vector<TaskProgress>> progress;
  for (const int64_t job : jobs) progress.push_back(by_job[job]);
  return progress;
}

absl::Status KeepProgress(Connection& db, int64_t job) {
  HONE_ASSIGN_OR_RETURN(const auto progress, ReadProgress(db, {job}));
  return db.Change("INSERT INTO job_ends (job, progress) VALUES ($1, $2)", job,
                   ToText(progress.at(0)));
}

absl::StatusOr<std::vector<std::string>> CheckProgress(Connection& db) {
  std::vector<std::string> complaints;
  HONE_RETURN_IF_ERROR(ComplainOf(db, "task_progress", TaskSums(""), complaints));
  HONE_RETURN_IF_ERROR(ComplainOf(db, "job_progress", JobSums(""), complaints));
  return complaints;
}

}  // namespace hone::tuning_db::postgres
