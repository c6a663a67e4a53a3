// The tables, in a schema "hone" of the database, as numbered migrations. docs/database.md explains
// them.
#ifndef HONE_TUNING_DB_POSTGRES_SCHEMA_H_
#define HONE_TUNING_DB_POSTGRES_SCHEMA_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuning_db/postgres/connection.h"

namespace hone::tuning_db::postgres {

// The advisory lock of whoever writes, for the length of its transaction (decision 0024).
inline constexpr char kLockWriters[] = "SELECT pg_advisory_xact_lock(1215262309, 1)";  // "Hone"

// The version of a database is the number of migrations it has behind it.
int NewestVersion();
// Nothing where the database holds no tuning database.
absl::StatusOr<std::optional<int>> VersionOf(Connection& db);

// Runs the migrations after the database's own version up to `version`, each in a transaction of
// its own that also raises the version, one process at a time. Passes the crash points
// migration.N.*.
absl::Status Migrate(Connection& db, int version = NewestVersion());

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_SCHEMA_H_
