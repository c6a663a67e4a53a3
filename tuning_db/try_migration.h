// What a migration would do, found out on a copy.
#ifndef HONE_TUNING_DB_TRY_MIGRATION_H_
#define HONE_TUNING_DB_TRY_MIGRATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hone::tuning_db {

struct MigrationTrial {
  int from = 0;  // the schema version that the file has
  int to = 0;    // that it would have; the same: there is nothing to be done
  // What does not hold in the migrated copy, in sentences.
  std::vector<std::string> faults;
};

// Copies the SQLite database beside itself (FILE.dry-run, which is gone again afterwards), migrates
// the copy and checks it. The file itself is only read, and whoever writes it goes on. Errors are
// those of OpenSqliteStore, and what makes a migration fail.
absl::StatusOr<MigrationTrial> TryMigration(const std::string& path);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_TRY_MIGRATION_H_
