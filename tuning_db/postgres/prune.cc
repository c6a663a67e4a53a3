// Retention of the store in PostgreSQL.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "support/status.h"
#include "tuning_db/conditions.h"
#include "tuning_db/postgres/rows.h"

namespace hone::tuning_db::postgres {

namespace {

// The bytes of the figures, in hexadecimal digits.
std::string HexOf(const std::vector<double>& values) {
  return absl::BytesToHexString(
      {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
}

}  // namespace

absl::StatusOr<Pruned> PruneEvents(Connection& db, int64_t before_wall_ns, const PrunePlace& place,
                                   int64_t most_rows) {
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query(fmt::format("SELECT e.job, e.seq, NOT (j.{})", kHasNotEnded) +
                   " AND COALESCE(e.wall_time_ns, r.wall_time_ns) < $1 "
                   "AND e.seq < (SELECT MAX(seq) FROM events WHERE job = e.job), "
                   "(SELECT MIN(seq) FROM events WHERE job = e.job) "
                   "FROM events e JOIN jobs j ON j.id = e.job "
                   "LEFT JOIN records r ON r.id = e.record "
                   "WHERE (e.job, e.seq) > ($2, $3) ORDER BY e.job, e.seq LIMIT $4",
               before_wall_ns, place.job, place.seq, most_rows));
  Pruned pruned;
  pruned.next = place;
  pruned.next.events_done = rows.size() < most_rows;
  std::vector<int64_t> jobs;  // these two: the last event of each job that is to be removed
  std::vector<int64_t> seqs;
  for (int i = 0; i < rows.size(); ++i) {
    const Row row = rows[i];
    pruned.next.job = row.Integer(0);
    pruned.next.seq = row.Integer(1);
    // Times may go back where a clock was set: an event stays that has one before it.
    const bool goes_on = !jobs.empty() && jobs.back() == pruned.next.job;
    const int64_t first_left = goes_on ? seqs.back() + 1 : row.Integer(3);
    if (row.Integer(2) == 0 || pruned.next.seq != first_left) continue;
    if (!goes_on) {
      jobs.push_back(pruned.next.job);
      seqs.emplace_back();
    }
    seqs.back() = pruned.next.seq;
    ++pruned.events;
  }
  if (jobs.empty()) return pruned;
  // Others write while this runs: one statement, not a round trip an event.
  HONE_RETURN_IF_ERROR(
      db.Change("DELETE FROM events e USING unnest($1::bigint[], $2::bigint[]) AS old (job, seq) "
                "WHERE e.job = old.job AND e.seq <= old.seq",
                jobs, seqs));
  return pruned;
}

absl::StatusOr<Pruned> PruneSamples(Connection& db, int64_t before_wall_ns, const PrunePlace& place,
                                    int64_t most_rows) {
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query("SELECT s.id, s.is_spare, CASE WHEN s.is_spare THEN s.samples_ns END FROM "
               "(SELECT r.id, r.samples_ns, " +
                   SpareSamples("$1", sizeof(double)) +
                   " AS is_spare FROM records r WHERE r.id > $2 ORDER BY r.id LIMIT $3) s "
                   "ORDER BY s.id",
               before_wall_ns, place.record, most_rows));
  Pruned pruned;
  pruned.next = place;
  pruned.is_last = rows.size() < most_rows;
  std::vector<int64_t> spare;
  std::string kept;  // of each, as hexadecimal digits
  for (int i = 0; i < rows.size(); ++i) {
    pruned.next.record = rows[i].Integer(0);
    if (rows[i].Integer(1) == 0) continue;
    spare.push_back(pruned.next.record);
    kept += (kept.empty() ? "" : ",") + HexOf(RankingSamples(rows[i].Reals(2)));
  }
  pruned.samples = static_cast<int64_t>(spare.size());
  if (spare.empty()) return pruned;
  HONE_RETURN_IF_ERROR(
      db.Change("UPDATE records r SET samples_ns = decode(k.samples_ns, 'hex') FROM "
                "unnest($1::bigint[], string_to_array($2, ',')) AS k (id, samples_ns) "
                "WHERE r.id = k.id",
                spare, kept));
  return pruned;
}

}  // namespace hone::tuning_db::postgres
