// The tables, as numbered migrations. docs/database.md explains them.
#ifndef HONE_TUNING_DB_SQLITE_SCHEMA_H_
#define HONE_TUNING_DB_SQLITE_SCHEMA_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tuning_db/sqlite/connection.h"

namespace hone::tuning_db::sqlite {

// "Hone" in ASCII, the application id in the header of each of our files.
inline constexpr uint32_t kApplicationId = 0x486F6E65;

// The version of a database is the number of migrations that it has been through.
int NewestVersion();
// From this version on, each page of a database has a checksum.
inline constexpr int kChecksumVersion = 9;

// Runs the migrations from the database's version up to `version`. Each is a transaction of its
// own, which also raises the version. Passes the crash points migration.N.*.
absl::Status Migrate(Connection& db, int version = NewestVersion());

absl::StatusOr<int> VersionOf(Connection& db);

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_SCHEMA_H_
