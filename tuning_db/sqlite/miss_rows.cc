#include "support/status.h"
#include "tuning_db/sqlite/rows.h"

namespace hone::tuning_db::sqlite {

absl::Status CountMiss(Connection& db, const Miss& miss) {
  HONE_ASSIGN_OR_RETURN(const int64_t workload, Intern(db, miss.workload));
  HONE_ASSIGN_OR_RETURN(const int64_t signature, Intern(db, miss.signature));
  HONE_ASSIGN_OR_RETURN(const int64_t target, Intern(db, miss.target));
  return db.Run(
      "INSERT INTO misses (workload, workload_digest, signature, target, tier, model, count) "
      "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workload_digest, signature, target, model) "
      "DO UPDATE SET tier = excluded.tier, count = count + excluded.count",
      workload, miss.workload_digest, signature, target, miss.tier, miss.model, miss.count);
}

absl::StatusOr<std::vector<Miss>> ReadMisses(Connection& db, const std::string& target) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare("SELECT w.body, m.workload_digest, s.body, g.body, m.tier, m.model, m.count "
                 "FROM misses m JOIN texts w ON w.id = m.workload "
                 "JOIN texts s ON s.id = m.signature JOIN texts g ON g.id = m.target "
                 "WHERE ? OR g.body = ? ORDER BY m.id"));
  query.Bind(target.empty(), target);
  std::vector<Miss> misses;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return misses;
    misses.push_back({query.Text(0), query.Text(1), query.Text(2), query.Text(3), query.Text(4),
                      query.Text(5), query.Integer(6)});
  }
}

}  // namespace hone::tuning_db::sqlite
