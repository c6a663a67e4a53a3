// Upkeep of the store in PostgreSQL.
#include "support/status.h"
#include "tuning_db/postgres/postgres_store.h"
#include "tuning_db/postgres/rows.h"
#include "tuning_db/transitions.h"

namespace hone::tuning_db::postgres {

absl::StatusOr<std::vector<std::string>> PostgresStore::Check() {
  return readers_.Read([](Connection& db) { return CheckDatabase(db); });
}

absl::Status PostgresStore::Retract(int64_t record, const std::string& reason) {
  HONE_RETURN_IF_ERROR(MayRetract(record, reason));
  return Change("retract", [&](Connection& db) {
    return RetractRecord(db, record, reason, clock_.WallTimeNs());
  });
}

absl::StatusOr<Pruned> PostgresStore::Prune(int64_t before_wall_ns, const PrunePlace& place,
                                            int64_t most_rows) {
  return Change<Pruned>("prune", [&](Connection& db) {
    return place.events_done ? PruneSamples(db, before_wall_ns, place, most_rows)
                             : PruneEvents(db, before_wall_ns, place, most_rows);
  });
}

}  // namespace hone::tuning_db::postgres
