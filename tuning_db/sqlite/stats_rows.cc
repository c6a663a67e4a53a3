// What was measured, counted: one walk through an index that has all that is counted.
#include <fmt/format.h>

#include "support/status.h"
#include "tuning_db/sqlite/record_filter.h"
#include "tuning_db/sqlite/rows.h"

namespace hone::tuning_db::sqlite {
namespace {

absl::Status CountRange(Connection& db, const FoundFilter& filter, const IdRange& ids,
                        StatsCounter& counter) {
  const bool is_signed = filter.signature.has_value();
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare(fmt::format("SELECT task, device, purpose, outcome, wall_time_ns FROM records{} "
                             "WHERE id BETWEEN ? AND ?{}",
                             is_signed ? "" : " INDEXED BY records_in_short",
                             ConditionsOf(filter, ""))));
  query.Bind(ids.first, ids.last);
  BindConditions(filter, "", query);
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return absl::OkStatus();
    const int64_t wall_time_ns = query.Integer(4);
    counter.Add({.task = query.Integer(0),
                 .device = query.Integer(1),
                 .purpose = query.As<Purpose>(2),
                 .outcome = query.As<Outcome>(3),
                 .day = DayOf(wall_time_ns),
                 .records = 1,
                 .first_wall_ns = wall_time_ns,
                 .last_wall_ns = wall_time_ns});
  }
}

StatsCounter::NameOf FirstTextOf(Connection& db, const char* sql) {
  return [&db, sql](int64_t id) -> absl::StatusOr<std::string> {
    HONE_ASSIGN_OR_RETURN(Statement query, db.Prepare(sql));
    query.Bind(id);
    HONE_RETURN_IF_ERROR(query.Step().status());
    return query.Text(0);
  };
}

}  // namespace

absl::StatusOr<LogStats> ReadStats(Connection& db, const RecordFilter& filter) {
  HONE_ASSIGN_OR_RETURN(const std::optional<FoundFilter> found, Find(db, filter));
  StatsCounter counter;
  if (found) {
    const IdRange all{.first = found->ranges.front().first, .last = found->ranges.back().last};
    HONE_RETURN_IF_ERROR(CountRange(db, *found, all, counter));
  }
  HONE_ASSIGN_OR_RETURN(
      LogStats stats,
      counter.Finish(FirstTextOf(db,
                                 "SELECT g.body FROM tasks k JOIN texts g ON g.id = k.target "
                                 "WHERE k.id = ?"),
                     FirstTextOf(db, "SELECT body FROM texts WHERE id = ?")));
  HONE_ASSIGN_OR_RETURN(stats.finals, CountFinals(db, filter));
  return stats;
}

}  // namespace hone::tuning_db::sqlite
