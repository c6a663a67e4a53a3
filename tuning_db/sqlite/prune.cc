// Retention of the store in SQLite.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "support/status.h"
#include "tuning_db/conditions.h"
#include "tuning_db/sqlite/packed_reals.h"
#include "tuning_db/sqlite/rows.h"

namespace hone::tuning_db::sqlite {

absl::StatusOr<Pruned> PruneEvents(Connection& db, int64_t before_wall_ns, const PrunePlace& place,
                                   int64_t most_rows) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare(fmt::format("SELECT e.job, e.seq, NOT (j.{})", kHasNotEnded) +
                 " AND IFNULL(e.wall_time_ns, r.wall_time_ns) < ? "
                 "AND e.seq < (SELECT MAX(seq) FROM events WHERE job = e.job) "
                 "FROM events e JOIN jobs j ON j.id = e.job LEFT JOIN records r ON r.id = e.record "
                 "WHERE (e.job, e.seq) > (?, ?) ORDER BY e.job, e.seq LIMIT ?"));
  query.Bind(before_wall_ns, place.job, place.seq, most_rows);
  Pruned pruned;
  pruned.next = place;
  std::vector<PrunePlace> old;
  int64_t rows = 0;
  for (;; ++rows) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) break;
    pruned.next.job = query.Integer(0);
    pruned.next.seq = query.Integer(1);
    if (query.Integer(2) != 0) old.push_back(pruned.next);
  }
  pruned.next.events_done = rows < most_rows;
  for (const PrunePlace& event : old) {
    // Times may go back where a clock was set: an event stays that has one before it.
    HONE_RETURN_IF_ERROR(
        db.Run("DELETE FROM events WHERE job = ? AND seq = ? AND "
               "seq = (SELECT MIN(seq) FROM events WHERE job = ?)",
               event.job, event.seq, event.job));
    pruned.events += db.Changes();
  }
  return pruned;
}

absl::StatusOr<Pruned> PruneSamples(Connection& db, int64_t before_wall_ns, const PrunePlace& place,
                                    int64_t most_rows) {
  // One that is packed has as many bytes, whatever it is.
  static const size_t kOneBytes = PackReals({1}).size();
  HONE_ASSIGN_OR_RETURN(Statement query,
                        db.Prepare("SELECT r.id, r.samples_ns, " + SpareSamples("?", kOneBytes) +
                                   " FROM records r WHERE r.id > ? ORDER BY r.id LIMIT ?"));
  query.Bind(before_wall_ns, place.record, most_rows);
  Pruned pruned;
  pruned.next = place;
  std::vector<std::pair<int64_t, std::vector<double>>> kept;
  int64_t rows = 0;
  for (;; ++rows) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) break;
    pruned.next.record = query.Integer(0);
    if (query.Integer(2) == 0) continue;
    kept.emplace_back(pruned.next.record, RankingSamples(query.PackedReals(1)));
  }
  pruned.is_last = rows < most_rows;
  for (const auto& [record, samples] : kept) {
    HONE_RETURN_IF_ERROR(
        db.Run("UPDATE records SET samples_ns = ? WHERE id = ?", Packed{samples}, record));
  }
  pruned.samples = static_cast<int64_t>(kept.size());
  return pruned;
}

}  // namespace hone::tuning_db::sqlite
