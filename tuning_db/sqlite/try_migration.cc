#include "tuning_db/try_migration.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/status.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/database_file.h"
#include "tuning_db/sqlite/database_use.h"
#include "tuning_db/sqlite/schema.h"
#include "tuning_db/sqlite/scratch_copy.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {
namespace {

absl::StatusOr<std::vector<std::string>> MigrateAndCheck(const std::string& copy) {
  HONE_ASSIGN_OR_RETURN(const auto store, OpenSqliteStore(copy, OpenMode::kReadWrite));
  return store->Check();
}

// A full disk is what is most often wrong with a copy.
absl::Status OfCopy(const absl::Status& status) {
  if (status.ok()) return status;
  return {status.code(),
          fmt::format("cannot try the migration on a copy, which needs room for two more of the "
                      "database; it is as it was: {}",
                      std::string(status.message()))};
}

}  // namespace

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
    HONE_RETURN_IF_ERROR(OfCopy(scratch.Fill(*db)));
  }
  absl::StatusOr<std::vector<std::string>> faults = MigrateAndCheck(scratch.path());
  if (!faults.ok()) return OfCopy(faults.status());
  trial.faults = *std::move(faults);
  return trial;
}

}  // namespace hone::tuning_db
