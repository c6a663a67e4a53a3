#include <fmt/format.h>

#include <optional>
#include <utility>

#include "support/status.h"
#include "tuning_db/conditions.h"
#include "tuning_db/cursor.h"
#include "tuning_db/sqlite/record_filter.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/task_match.h"
#include "tuning_db/transitions.h"
#include "tuning_db/well_formed.h"

namespace hone::tuning_db::sqlite {
namespace {

absl::StatusOr<std::vector<FinalEntry>> ReadEntries(Connection& db, int64_t final) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare("SELECT c.body, e.nest_digest, e.artifact_digest, e.round_ns, e.median_ns, "
                 "e.ratio_to_default FROM final_entries e JOIN texts c ON c.id = e.config "
                 "WHERE e.final = ? ORDER BY e.position"));
  query.Bind(final);
  std::vector<FinalEntry> entries;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return entries;
    entries.push_back({query.Text(0), query.Text(1), query.Text(2), query.Reals(3), query.Real(4),
                       query.Real(5)});
  }
}

absl::Status InsertEntry(Connection& db, int64_t final, int64_t position, const FinalEntry& entry) {
  HONE_ASSIGN_OR_RETURN(const int64_t config, Intern(db, entry.config));
  return db.Run(
      "INSERT INTO final_entries (final, position, config, nest_digest, artifact_digest, round_ns, "
      "median_ns, ratio_to_default) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      final, position, config, entry.nest_digest, entry.artifact_digest, entry.round_ns,
      entry.median_ns, entry.ratio_to_default);
}

// The record that it names is one that a final may come of.
absl::Status RequireConfirmed(Connection& db, const Final& final, int64_t signature) {
  if (final.record == 0) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(
      const auto record,
      db.Integer("SELECT id FROM records WHERE id = ? AND task = ? AND signature = ? "
                 "AND purpose = ? AND outcome = ?",
                 final.record, final.task, signature, Purpose::kConfirm, Outcome::kOk));
  return record ? absl::OkStatus()
                : NoSuch("record of a confirm trial of the final's task", final.record);
}

absl::StatusOr<Final> ReadFinal(Connection& db, int64_t id) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare(
          "SELECT f.id, f.task, s.body, f.job, f.distinct_trials, f.space_size, f.winner, "
          "f.default_entry, o.body, d.body, f.wall_time_ns, f.ended_share, f.record FROM finals f "
          "JOIN texts s ON s.id = f.signature JOIN texts o ON o.id = f.toolchain "
          "JOIN texts d ON d.id = f.device WHERE f.id = ?"));
  query.Bind(id);
  HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
  if (!has_row) return NoSuch("final", id);
  Final final;
  final.id = query.Integer(0);
  final.task = query.Integer(1);
  final.signature = query.Text(2);
  final.job = query.Integer(3);
  final.distinct_trials = query.Integer(4);
  final.space_size = query.Integer(5);
  final.winner = static_cast<int>(query.Integer(6));
  final.default_entry = static_cast<int>(query.Integer(7));
  final.toolchain = query.Text(8);
  final.device = query.Text(9);
  final.wall_time_ns = query.Integer(10);
  final.ended_share = query.Real(11);
  final.record = query.Integer(12);  // NULL is 0
  HONE_ASSIGN_OR_RETURN(final.entries, ReadEntries(db, final.id));
  // An index that is read from a damaged file may name no entry.
  HONE_RETURN_IF_ERROR(HasItsEntries(final));
  return final;
}

// The newest of each task and signature, of those that match.
std::string NewestFinals(const RecordFilter& filter) {
  std::string sql =
      "SELECT f.task, MAX(f.id) FROM finals f JOIN texts d ON d.id = f.device "
      "JOIN texts s ON s.id = f.signature WHERE true";
  if (!filter.with_retracted) sql += fmt::format(" AND {}", kFinalCounts);
  if (IsOfTasks(filter)) sql += " AND f.task IN (SELECT value FROM json_each(?))";
  if (filter.signature) sql += " AND s.body = ?";
  if (!filter.device.empty()) sql += " AND d.body = ?";
  if (!filter.device_prefix.empty()) sql += " AND INSTR(d.body, ?) = 1";
  if (filter.job) sql += " AND IFNULL(f.job, 0) = ?";
  if (filter.since_wall_ns != 0) sql += " AND f.wall_time_ns >= ?";
  if (filter.before_wall_ns != 0) sql += " AND f.wall_time_ns < ?";
  return sql + " GROUP BY f.task, f.signature";
}

absl::Status BindFinals(Connection& db, const RecordFilter& filter, Statement& query) {
  if (IsOfTasks(filter)) {
    HONE_ASSIGN_OR_RETURN(const std::vector<int64_t> tasks, FindTasks(db, filter));
    query.Bind(fmt::format("[{}]", fmt::join(tasks, ",")));
  }
  if (filter.signature) query.Bind(*filter.signature);
  if (!filter.device.empty()) query.Bind(filter.device);
  if (!filter.device_prefix.empty()) query.Bind(filter.device_prefix);
  if (filter.job) query.Bind(*filter.job);
  if (filter.since_wall_ns != 0) query.Bind(filter.since_wall_ns);
  if (filter.before_wall_ns != 0) query.Bind(filter.before_wall_ns);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> InsertFinal(Connection& db, const Final& final) {
  HONE_RETURN_IF_ERROR(Require(db, "tasks", "task", final.task));
  if (final.job != 0) HONE_RETURN_IF_ERROR(Require(db, "jobs", "job", final.job));
  HONE_ASSIGN_OR_RETURN(const int64_t signature, Intern(db, final.signature));
  HONE_RETURN_IF_ERROR(RequireConfirmed(db, final, signature));
  HONE_ASSIGN_OR_RETURN(const int64_t toolchain, Intern(db, final.toolchain));
  HONE_ASSIGN_OR_RETURN(const int64_t device, Intern(db, final.device));
  HONE_RETURN_IF_ERROR(
      db.Run("INSERT INTO finals (task, signature, job, distinct_trials, space_size, winner, "
             "default_entry, toolchain, device, wall_time_ns, ended_share, record) "
             "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
             final.task, signature, final.job != 0 ? std::optional(final.job) : std::nullopt,
             final.distinct_trials, final.space_size, final.winner, final.default_entry, toolchain,
             device, final.wall_time_ns, final.ended_share,
             final.record != 0 ? std::optional(final.record) : std::nullopt));
  const int64_t id = db.LastInsertId();
  int64_t position = 0;
  for (const FinalEntry& entry : final.entries) {
    HONE_RETURN_IF_ERROR(InsertEntry(db, id, position++, entry));
  }
  return id;
}

absl::StatusOr<std::optional<Final>> ReadNewestFinal(Connection& db, int64_t task,
                                                     const std::string& signature) {
  HONE_ASSIGN_OR_RETURN(const std::optional<int64_t> text, FindText(db, signature));
  if (!text) return std::optional<Final>();
  HONE_ASSIGN_OR_RETURN(
      const std::optional<int64_t> id,
      db.Integer(
          fmt::format("SELECT f.id FROM finals f WHERE f.task = ? AND f.signature = ? AND {} "
                      "ORDER BY f.id DESC LIMIT 1",
                      kFinalCounts),
          task, *text));
  if (!id) return std::optional<Final>();
  HONE_ASSIGN_OR_RETURN(Final final, ReadFinal(db, *id));
  return std::optional<Final>(std::move(final));
}

absl::StatusOr<FinalPage> ReadFinals(Connection& db, const RecordFilter& filter,
                                     const std::string& cursor, int64_t limit) {
  HONE_ASSIGN_OR_RETURN(const FinalPlace after, FromFinalCursor(cursor));
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare(NewestFinals(filter) +
                 " HAVING (f.task, MAX(f.id)) > (?, ?) ORDER BY f.task, 2 LIMIT ?"));
  HONE_RETURN_IF_ERROR(BindFinals(db, filter, query));
  query.Bind(after.task, after.final, limit > 0 ? limit + 1 : -1);
  FinalPage page{.finals = {}, .next = cursor, .is_last = true};
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return page;
    if (limit > 0 && static_cast<int64_t>(page.finals.size()) == limit) {
      page.is_last = false;
      return page;
    }
    TaskFinal& next = page.finals.emplace_back();
    HONE_ASSIGN_OR_RETURN(next.task, ReadTask(db, query.Integer(0)));
    HONE_ASSIGN_OR_RETURN(next.final, ReadFinal(db, query.Integer(1)));
    page.next = ToFinalCursor({.task = next.task.id, .final = next.final.id});
  }
}

absl::StatusOr<int64_t> CountFinals(Connection& db, const RecordFilter& filter) {
  HONE_ASSIGN_OR_RETURN(Statement query,
                        db.Prepare(fmt::format("SELECT COUNT(*) FROM ({})", NewestFinals(filter))));
  HONE_RETURN_IF_ERROR(BindFinals(db, filter, query));
  HONE_RETURN_IF_ERROR(query.Step().status());
  return query.Integer(0);
}

}  // namespace hone::tuning_db::sqlite
