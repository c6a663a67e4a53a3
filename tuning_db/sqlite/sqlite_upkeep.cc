// Upkeep of the store in SQLite.
#include "support/status.h"
#include "tuning_db/sqlite/check.h"
#include "tuning_db/sqlite/rows.h"
#include "tuning_db/sqlite/sqlite_store.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::sqlite {

absl::StatusOr<std::vector<std::string>> SqliteStore::Check() {
  return readers_.Read([](Connection& db) { return CheckDatabase(db); });
}

absl::Status SqliteStore::Retract(int64_t record, const std::string& reason) {
  HONE_RETURN_IF_ERROR(MayRetract(record, reason));
  return Change("retract", [&](Connection& db) {
    return RetractRecord(db, record, reason, clock_.WallTimeNs());
  });
}

absl::StatusOr<Pruned> SqliteStore::Prune(int64_t before_wall_ns, const PrunePlace& place,
                                          int64_t most_rows) {
  return Change<Pruned>("prune", [&](Connection& db) {
    return place.events_done ? PruneSamples(db, before_wall_ns, place, most_rows)
                             : PruneEvents(db, before_wall_ns, place, most_rows);
  });
}

}  // namespace hone::tuning_db::sqlite
