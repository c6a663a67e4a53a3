// What was measured, counted: by the server, in groups.
#include "support/status.h"
#include "tuning_db/postgres/record_filter.h"
#include "tuning_db/postgres/rows.h"

namespace hone::tuning_db::postgres {
namespace {

absl::Status CountGroups(Connection& db, FoundFilter found, StatsCounter& counter) {
  for (const ColumnValues& list : found.lists) {
    found.conditions.Add("r." + list.column + " = ANY({}::bigint[])", list.values);
  }
  constexpr char kDay[] = "FLOOR(r.wall_time_ns / 86400000000000.0)::bigint";
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.QueryWith(
          fmt::format("SELECT r.task, r.device, r.purpose, r.outcome, {}, COUNT(*), "
                      "MIN(r.wall_time_ns), MAX(r.wall_time_ns) FROM records r WHERE true{} "
                      "GROUP BY 1, 2, 3, 4, 5",
                      kDay, found.conditions.text()),
          found.conditions.parameters()));
  for (int i = 0; i < rows.size(); ++i) {
    const Row row = rows[i];
    counter.Add({.task = row.Integer(0),
                 .device = row.Integer(1),
                 .purpose = row.As<Purpose>(2),
                 .outcome = row.As<Outcome>(3),
                 .day = row.Integer(4),
                 .records = row.Integer(5),
                 .first_wall_ns = row.Integer(6),
                 .last_wall_ns = row.Integer(7)});
  }
  return absl::OkStatus();
}

StatsCounter::NameOf FirstTextOf(Connection& db, const char* sql) {
  return [&db, sql](int64_t id) -> absl::StatusOr<std::string> {
    HONE_ASSIGN_OR_RETURN(const Rows rows, db.Query(sql, id));
    return rows.empty() ? "" : rows[0].Text(0);
  };
}

}  // namespace

absl::StatusOr<LogStats> ReadStats(Connection& db, const RecordFilter& filter) {
  HONE_ASSIGN_OR_RETURN(std::optional<FoundFilter> found, Find(db, filter));
  StatsCounter counter;
  if (found) HONE_RETURN_IF_ERROR(CountGroups(db, *std::move(found), counter));
  HONE_ASSIGN_OR_RETURN(
      LogStats stats,
      counter.Finish(FirstTextOf(db,
                                 "SELECT g.body FROM tasks k JOIN texts g ON g.id = k.target "
                                 "WHERE k.id = $1"),
                     FirstTextOf(db, "SELECT body FROM texts WHERE id = $1")));
  HONE_ASSIGN_OR_RETURN(stats.finals, CountFinals(db, filter));
  return stats;
}

}  // namespace hone::tuning_db::postgres
