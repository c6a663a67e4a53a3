// What operators put aside, in the store on PostgreSQL.
#include "support/status.h"
#include "tuning_db/postgres/postgres_store.h"
#include "tuning_db/postgres/rows.h"
#include "tuning_db/well_formed.h"

namespace hone::tuning_db::postgres {
namespace {

// That of the device; without one, all of the worker; without a worker, all.
absl::StatusOr<std::vector<Quarantine>> ReadQuarantines(Connection& db, const std::string& worker,
                                                        const std::string& device) {
  HONE_ASSIGN_OR_RETURN(
      const Rows rows,
      db.Query("SELECT worker, device, reason, said_by, at_ns FROM quarantines WHERE ($1 = '' OR "
               "worker = $1) AND ($2 = '' OR device = $2) ORDER BY worker COLLATE \"C\", device "
               "COLLATE \"C\"",
               worker, device));
  std::vector<Quarantine> found;
  for (int i = 0; i < rows.size(); ++i) {
    const Row row = rows[i];
    found.push_back({row.Text(0), row.Text(1), row.Text(2), row.Text(3), row.Integer(4)});
  }
  return found;
}

}  // namespace

absl::StatusOr<Quarantine> PostgresStore::SetQuarantine(const Quarantine& quarantine) {
  HONE_RETURN_IF_ERROR(IsWellFormed(quarantine));
  return Change<Quarantine>("set_quarantine", [&](Connection& db) -> absl::StatusOr<Quarantine> {
    Quarantine row = quarantine;
    row.at_ns = clock_.WallTimeNs();
    HONE_RETURN_IF_ERROR(db.Change(
        "INSERT INTO quarantines (worker, device, reason, said_by, at_ns) VALUES ($1, $2, $3, $4, "
        "$5) ON CONFLICT (worker, device) DO UPDATE SET reason = excluded.reason, said_by = "
        "excluded.said_by, at_ns = excluded.at_ns",
        row.worker, row.device, row.reason, row.by, row.at_ns));
    return row;
  });
}

absl::StatusOr<std::vector<Quarantine>> PostgresStore::EndQuarantines(const std::string& worker,
                                                                      const std::string& device) {
  HONE_RETURN_IF_ERROR(IsText("a worker's name", worker));
  HONE_RETURN_IF_ERROR(IsText("a device's name", device));
  using Quarantines = std::vector<Quarantine>;
  return Change<Quarantines>("end_quarantines", [&](Connection& db) -> absl::StatusOr<Quarantines> {
    if (worker.empty()) return Quarantines();
    HONE_ASSIGN_OR_RETURN(const Quarantines ended, ReadQuarantines(db, worker, device));
    for (const Quarantine& row : ended) {
      HONE_RETURN_IF_ERROR(db.Change("DELETE FROM quarantines WHERE worker = $1 AND device = $2",
                                     row.worker, row.device));
    }
    return ended;
  });
}

absl::StatusOr<std::vector<Quarantine>> PostgresStore::ListQuarantines() {
  return readers_.Read([&](Connection& db) { return ReadQuarantines(db, "", ""); });
}

}  // namespace hone::tuning_db::postgres
