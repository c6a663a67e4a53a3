#include <fmt/format.h>

#include <optional>
#include <utility>

#include "support/status.h"
#include "tuning_db/conditions.h"
#include "tuning_db/cursor.h"
#include "tuning_db/postgres/record_filter.h"
#include "tuning_db/postgres/rows.h"
#include "tuning_db/task_match.h"
#include "tuning_db/transitions.h"
#include "tuning_db/well_formed.h"

namespace hone::tuning_db::postgres {
namespace {

absl::StatusOr<std::vector<FinalEntry>> ReadEntries(Connection& db, int64_t final) {
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query("SELECT c.body, e.nest_digest, e.artifact_digest, e.round_ns, e.median_ns, "
               "e.ratio_to_default FROM final_entries e JOIN texts c ON c.id = e.config "
               "WHERE e.final = $1 ORDER BY e.position",
               final));
  std::vector<FinalEntry> entries;
  for (int i = 0; i < rows.size(); ++i) {
    const Row row = rows[i];
    entries.push_back({row.Text(0), row.DigestText(1), row.DigestText(2), row.Reals(3), row.Real(4),
                       row.Real(5)});
  }
  return entries;
}

absl::Status InsertEntry(Connection& db, int64_t final, int64_t position, const FinalEntry& entry) {
  HONE_ASSIGN_OR_RETURN(const int64_t config, Intern(db, entry.config));
  return db.Change(
      "INSERT INTO final_entries (final, position, config, nest_digest, artifact_digest, round_ns, "
      "median_ns, ratio_to_default) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
      final, position, config, Digest{entry.nest_digest}, Digest{entry.artifact_digest},
      entry.round_ns, entry.median_ns, entry.ratio_to_default);
}

// The record that it names is one that a final may come of.
absl::Status RequireConfirmed(Connection& db, const Final& final, int64_t signature) {
  if (final.record == 0) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(
      const auto record,
      db.Integer("SELECT id FROM records WHERE id = $1 AND task = $2 AND signature = $3 "
                 "AND purpose = $4 AND outcome = $5",
                 final.record, final.task, signature, Purpose::kConfirm, Outcome::kOk));
  return record ? absl::OkStatus()
                : NoSuch("record of a confirm trial of the final's task", final.record);
}

absl::StatusOr<Final> ReadFinal(Connection& db, int64_t id) {
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query(
          "SELECT f.id, f.task, s.body, f.job, f.distinct_trials, f.space_size, f.winner, "
          "f.default_entry, o.body, d.body, f.wall_time_ns, f.ended_share, f.record FROM finals f "
          "JOIN texts s ON s.id = f.signature JOIN texts o ON o.id = f.toolchain "
          "JOIN texts d ON d.id = f.device WHERE f.id = $1",
          id));
  if (rows.empty()) return NoSuch("final", id);
  const Row row = rows[0];
  Final final;
  final.id = row.Integer(0);
  final.task = row.Integer(1);
  final.signature = row.Text(2);
  final.job = row.Integer(3);
  final.distinct_trials = row.Integer(4);
  final.space_size = row.Integer(5);
  final.winner = static_cast<int>(row.Integer(6));
  final.default_entry = static_cast<int>(row.Integer(7));
  final.toolchain = row.Text(8);
  final.device = row.Text(9);
  final.wall_time_ns = row.Integer(10);
  final.ended_share = row.Real(11);
  final.record = row.Integer(12);  // NULL is 0
  HONE_ASSIGN_OR_RETURN(final.entries, ReadEntries(db, final.id));
  // An index that somebody changed by hand may name no entry.
  HONE_RETURN_IF_ERROR(HasItsEntries(final));
  return final;
}

// On finals f, of a device d and a signature s.
absl::StatusOr<Conditions> ConditionsOnFinals(Connection& db, const RecordFilter& filter) {
  Conditions conditions;
  if (!filter.with_retracted) conditions.Add(kFinalCounts);
  if (IsOfTasks(filter)) {
    HONE_ASSIGN_OR_RETURN(const std::vector<int64_t> tasks, FindTasks(db, filter));
    conditions.Add("f.task = ANY({}::bigint[])", tasks);
  }
  if (filter.signature) conditions.Add("s.body = {}", *filter.signature);
  if (!filter.device.empty()) conditions.Add("d.body = {}", filter.device);
  if (!filter.device_prefix.empty()) {
    conditions.Add("strpos(d.body, {}) = 1", filter.device_prefix);
  }
  if (filter.job) conditions.Add("COALESCE(f.job, 0) = {}", *filter.job);
  if (filter.since_wall_ns != 0) conditions.Add("f.wall_time_ns >= {}", filter.since_wall_ns);
  if (filter.before_wall_ns != 0) conditions.Add("f.wall_time_ns < {}", filter.before_wall_ns);
  return conditions;
}

// The newest of each task and signature, of those that match.
std::string NewestFinals(const Conditions& conditions) {
  return fmt::format(
      "SELECT f.task, MAX(f.id) AS id FROM finals f JOIN texts d ON d.id = f.device "
      "JOIN texts s ON s.id = f.signature WHERE true{} GROUP BY f.task, f.signature",
      conditions.text());
}

}  // namespace

absl::StatusOr<int64_t> InsertFinal(Connection& db, const Final& final) {
  HONE_RETURN_IF_ERROR(RequireOwners(db, final.task, final.job));
  HONE_ASSIGN_OR_RETURN(const int64_t signature, Intern(db, final.signature));
  HONE_RETURN_IF_ERROR(RequireConfirmed(db, final, signature));
  HONE_ASSIGN_OR_RETURN(const int64_t toolchain, Intern(db, final.toolchain));
  HONE_ASSIGN_OR_RETURN(const int64_t device, Intern(db, final.device));
  HONE_ASSIGN_OR_RETURN(
      const int64_t id,
      db.Insert(
          "INSERT INTO finals (id, task, signature, job, distinct_trials, space_size, winner, "
          "default_entry, toolchain, device, wall_time_ns, ended_share, record) "
          "VALUES ((SELECT COALESCE(MAX(id), 0) + 1 FROM finals), $1, $2, $3, $4, $5, $6, $7, $8, "
          "$9, $10, $11, $12) RETURNING id",
          final.task, signature, final.job != 0 ? std::optional(final.job) : std::nullopt,
          final.distinct_trials, final.space_size, final.winner, final.default_entry, toolchain,
          device, final.wall_time_ns, final.ended_share,
          final.record != 0 ? std::optional(final.record) : std::nullopt));
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
      db.Integer(fmt::format("SELECT f.id FROM finals f WHERE f.task = $1 AND f.signature = $2 AND "
                             "{} ORDER BY f.id DESC LIMIT 1",
                             kFinalCounts),
                 task, *text));
  if (!id) return std::optional<Final>();
  HONE_ASSIGN_OR_RETURN(Final final, ReadFinal(db, *id));
  return std::optional<Final>(std::move(final));
}

absl::StatusOr<FinalPage> ReadFinals(Connection& db, const RecordFilter& filter,
                                     const std::string& cursor, int64_t limit) {
  HONE_ASSIGN_OR_RETURN(const FinalPlace after, FromFinalCursor(cursor));
  HONE_ASSIGN_OR_RETURN(Conditions conditions, ConditionsOnFinals(db, filter));
  const std::string newest = NewestFinals(conditions);
  const std::string task = conditions.Bind(after.task);
  const std::string final = conditions.Bind(after.final);
  const std::string most = conditions.Bind(limit > 0 ? std::optional(limit + 1) : std::nullopt);
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.QueryWith(fmt::format("SELECT n.task, n.id FROM ({}) n WHERE (n.task, n.id) > "
                               "({}::bigint, {}::bigint) ORDER BY n.task, n.id LIMIT {}::bigint",
                               newest, task, final, most),
                   conditions.parameters()));
  FinalPage page{.finals = {}, .next = cursor, .is_last = true};
  for (int i = 0; i < rows.size(); ++i) {
    if (limit > 0 && i == limit) {
      page.is_last = false;
      break;
    }
    TaskFinal& next = page.finals.emplace_back();
    HONE_ASSIGN_OR_RETURN(next.task, ReadTask(db, rows[i].Integer(0)));
    HONE_ASSIGN_OR_RETURN(next.final, ReadFinal(db, rows[i].Integer(1)));
    page.next = ToFinalCursor({.task = next.task.id, .final = next.final.id});
  }
  return page;
}

absl::StatusOr<int64_t> CountFinals(Connection& db, const RecordFilter& filter) {
  HONE_ASSIGN_OR_RETURN(const Conditions conditions, ConditionsOnFinals(db, filter));
  HONE_ASSIGN_OR_RETURN(const Rows rows, db.QueryWith(fmt::format("SELECT COUNT(*) FROM ({}) n",
                                                                  NewestFinals(conditions)),
                                                      conditions.parameters()));
  return rows[0].Integer(0);
}

}  // namespace hone::tuning_db::postgres
