// Tries a migration on a copy.
#ifndef HONE_TUNING_DB_TRY_MIGRATION_H_
#define HONE_TUNING_DB_TRY_MIGRATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::tuning_db {

struct MigrationTrial {
  int from = 0;  // the schema version that the file has
  int to = 0;    // the version that it would have; equal if there is nothing to do
  // Sentences about what does not hold in the migrated copy.
  std::vector<std::string> faults;
};

// Copies the SQLite database to FILE.dry-run, migrates and checks the copy, and removes it. The
// file itself is only read, and may be written meanwhile. Errors are those of OpenSqliteStore and
// of the migration.
absl::StatusOr<MigrationTrial> TryMigration(const std::string& path);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_TRY_MIGRATION_H_
