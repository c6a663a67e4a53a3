#include "tuning_db/try_migration.h"

#include <unistd.h>

#include <memory>

#include "support/status.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/database_file.h"
#include "tuning_db/sqlite/database_use.h"
#include "tuning_db/sqlite/schema.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {
namespace {

// A copy that is gone at the end.
class Scratch {
 public:
  explicit Scratch(std::string path) : path_(std::move(path)) { Remove(); }
  ~Scratch() { Remove(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  void Remove() const {
    for (const char* suffix : {"", "-journal", "-wal", "-shm", ".lock"}) {
      unlink((path_ + suffix).c_str());
    }
  }
  const std::string path_;
};

}  // namespace

absl::StatusOr<MigrationTrial> TryMigration(const std::string& given) {
  HONE_ASSIGN_OR_RETURN(const std::string path, sqlite::CanonicalPath(given));
  // Refuses what is no tuning database, and holds the file's locks.
  HONE_ASSIGN_OR_RETURN(const auto use, sqlite::DatabaseUse::Begin(path));
  MigrationTrial trial;
  const Scratch scratch(path + ".dry-run");
  {
    HONE_ASSIGN_OR_RETURN(const auto db, sqlite::Connection::Open(path, sqlite::Access::kRead));
    HONE_ASSIGN_OR_RETURN(trial.from, sqlite::VersionOf(*db));
    if (trial.from > sqlite::NewestVersion()) return sqlite::NewerVersion(path, trial.from);
    trial.to = sqlite::NewestVersion();
    HONE_RETURN_IF_ERROR(db->Run("VACUUM INTO ?", scratch.path()));
  }
  {
    HONE_ASSIGN_OR_RETURN(const auto copy,
                          sqlite::Connection::Open(scratch.path(), sqlite::Access::kWrite));
    HONE_RETURN_IF_ERROR(copy->Execute("PRAGMA journal_mode = WAL"));
  }
  HONE_ASSIGN_OR_RETURN(const auto store, OpenSqliteStore(scratch.path(), OpenMode::kReadWrite));
  HONE_ASSIGN_OR_RETURN(trial.faults, store->Check());
  return trial;
}

}  // namespace hone::tuning_db
