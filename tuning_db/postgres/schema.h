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

// Takes the advisory lock that every writer holds during its transaction (decision 0024).
inline constexpr char kLockWriters[] = "SELECT pg_advisory_xact_lock(1215262309, 1)";  // "Hone"

// The version of a database is the number of migrations that it has been through.
int NewestVersion();
// nullopt if the database has no tables of ours.
absl::StatusOr<std::optional<int>> VersionOf(Connection& db);

// Runs the migrations from the database's version up to `version`. Each is a transaction of its
// own, which also raises the version, and only one process migrates at a time. Passes the crash
// points migration.N.*.
absl::Status Migrate(Connection& db, int version = NewestVersion());

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_SCHEMA_H_
