#include "support/status.h"
#include "tuning_db/postgres/rows.h"

namespace hone::tuning_db::postgres {

absl::Status CountMiss(Connection& db, const Miss& miss) {
  HONE_ASSIGN_OR_RETURN(const int64_t workload, Intern(db, miss.workload));
  HONE_ASSIGN_OR_RETURN(const int64_t signature, Intern(db, miss.signature));
  HONE_ASSIGN_OR_RETURN(const int64_t target, Intern(db, miss.target));
  return db.Change(
      "INSERT INTO misses AS m (id, workload, workload_digest, signature, target, tier, model, "
      "count) "
      "VALUES ((SELECT COALESCE(MAX(id), 0) + 1 FROM misses), $1, $2, $3, $4, $5, $6, $7) ON "
      "CONFLICT (workload_digest, signature, target, model) "
      "DO UPDATE SET tier = excluded.tier, count = m.count + excluded.count",
      workload, Digest{miss.workload_digest}, signature, target, miss.tier, miss.model, miss.count);
}

absl::StatusOr<std::vector<Miss>> ReadMisses(Connection& db, const std::string& target) {
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query("SELECT w.body, m.workload_digest, s.body, g.body, m.tier, m.model, m.count "
               "FROM misses m JOIN texts w ON w.id = m.workload "
               "JOIN texts s ON s.id = m.signature JOIN texts g ON g.id = m.target "
               "WHERE $1 OR g.body = $2 ORDER BY m.id",
               target.empty(), target));
  std::vector<Miss> misses;
  for (int i = 0; i < rows.size(); ++i) {
    const Row row = rows[i];
    misses.push_back({row.Text(0), row.DigestText(1), row.Text(2), row.Text(3), row.Text(4),
                      row.Text(5), row.Integer(6)});
  }
  return misses;
}

}  // namespace hone::tuning_db::postgres
