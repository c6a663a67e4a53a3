#include "tuning_db/try_migration.h"

#include <memory>

#include "support/status.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/database_file.h"
#include "tuning_db/sqlite/database_use.h"
#include "tuning_db/sqlite/schema.h"
#include "tuning_db/sqlite/scratch_copy.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {

absl::StatusOr<MigrationTrial> TryMigration(const std::string& given) {
  HONE_ASSIGN_OR_RETURN(const std::string path, sqlite::CanonicalPath(given));
  // Refuses what is no tuning database, and holds the file's locks.
  HONE_ASSIGN_OR_RETURN(const auto use, sqlite::DatabaseUse::Begin(path));
  MigrationTrial trial;
  const sqlite::ScratchCopy scratch(path + ".dry-run");
  {
    HONE_ASSIGN_OR_RETURN(const auto db, sqlite::Connection::Open(path, sqlite::Access::kRead));
    HONE_ASSIGN_OR_RETURN(trial.from, sqlite::VersionOf(*db));
    if (trial.from > sqlite::NewestVersion()) return sqlite::NewerVersion(path, trial.from);
    trial.to = sqlite::NewestVersion();
    HONE_RETURN_IF_ERROR(scratch.Fill(*db));
  }
  HONE_ASSIGN_OR_RETURN(const auto store, OpenSqliteStore(scratch.path(), OpenMode::kReadWrite));
  HONE_ASSIGN_OR_RETURN(trial.faults, store->Check());
  return trial;
}

}  // namespace hone::tuning_db
