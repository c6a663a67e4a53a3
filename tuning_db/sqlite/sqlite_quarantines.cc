// What operators put aside, in the store in SQLite.
#include "support/status.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/sqlite/sqlite_store.h"
#include "tuning_db/well_formed.h"

namespace hone::tuning_db::sqlite {
namespace {

// That of the device; without one, all of the worker; without a worker, all.
absl::StatusOr<std::vector<Quarantine>> ReadQuarantines(Connection& db, const std::string& worker,
                                                        const std::string& device) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare("SELECT worker, device, reason, said_by, at_ns FROM quarantines WHERE (?1 = '' OR "
                 "worker = ?1) AND (?2 = '' OR device = ?2) ORDER BY worker, device"));
  query.Bind(worker, device);
  std::vector<Quarantine> found;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool has_row, query.Step());
    if (!has_row) return found;
    found.push_back({query.Text(0), query.Text(1), query.Text(2), query.Text(3), query.Integer(4)});
  }
}

}  // namespace

absl::StatusOr<Quarantine> SqliteStore::SetQuarantine(const Quarantine& quarantine) {
  HONE_RETURN_IF_ERROR(IsWellFormed(quarantine));
  return Change<Quarantine>("set_quarantine", [&](Connection& db) -> absl::StatusOr<Quarantine> {
    Quarantine row = quarantine;
    row.at_ns = clock_.WallTimeNs();
    HONE_RETURN_IF_ERROR(db.Run(
        "INSERT OR REPLACE INTO quarantines (worker, device, reason, said_by, at_ns) VALUES (?, ?, "
        "?, ?, ?)",
        row.worker, row.device, row.reason, row.by, row.at_ns));
    return row;
  });
}

absl::StatusOr<std::vector<Quarantine>> SqliteStore::EndQuarantines(const std::string& worker,
                                                                    const std::string& device) {
  HONE_RETURN_IF_ERROR(IsText("a worker's name", worker));
  HONE_RETURN_IF_ERROR(IsText("a device's name", device));
  using Quarantines = std::vector<Quarantine>;
  return Change<Quarantines>("end_quarantines", [&](Connection& db) -> absl::StatusOr<Quarantines> {
    if (worker.empty()) return Quarantines();
    HONE_ASSIGN_OR_RETURN(const Quarantines ended, ReadQuarantines(db, worker, device));
    for (const Quarantine& row : ended) {
      HONE_RETURN_IF_ERROR(db.Run("DELETE FROM quarantines WHERE worker = ? AND device = ?",
                                  row.worker, row.device));
    }
    return ended;
  });
}

absl::StatusOr<std::vector<Quarantine>> SqliteStore::ListQuarantines() {
  return readers_.Read([&](Connection& db) { return ReadQuarantines(db, "", ""); });
}

}  // namespace hone::tuning_db::sqlite
