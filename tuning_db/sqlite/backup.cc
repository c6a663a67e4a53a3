#include "tuning_db/backup.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "support/file_system.h"
#include "support/status.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {
namespace {

using sqlite::Access;
using sqlite::Connection;

// SQLite neither syncs what it copies so, nor makes it a database with a log; the change of mode
// syncs the whole file.
absl::Status CopyTo(const std::string& path, const std::string& scratch) {
  {
    HONE_ASSIGN_OR_RETURN(const auto db, Connection::Open(path, Access::kRead));
    HONE_RETURN_IF_ERROR(db->Run("VACUUM INTO ?", scratch));
  }
  HONE_ASSIGN_OR_RETURN(const auto copied, Connection::Open(scratch, Access::kWrite));
  return copied->Execute("PRAGMA journal_mode = WAL");
}

}  // namespace

absl::Status BackUpSqlite(const std::string& path, const std::string& copy) {
  if (std::filesystem::exists(copy)) {
    return absl::AlreadyExistsError(
        fmt::format("{} is there already, and a backup replaces nothing: name another file", copy));
  }
  // Refuses what is no tuning database of this version, and holds the file's locks.
  HONE_ASSIGN_OR_RETURN(const auto store, OpenSqliteStore(path, OpenMode::kReadOnly));
  const std::string scratch = copy + ".new";
  const auto remove = [&] {
    for (const char* suffix : {"", "-journal", "-wal", "-shm"}) unlink((scratch + suffix).c_str());
  };
  remove();  // what a crash may have left
  absl::Status status = CopyTo(path, scratch);
  if (status.ok()) status = RenameDurably(scratch, copy);
  if (!status.ok()) remove();
  return status;
}

}  // namespace hone::tuning_db
