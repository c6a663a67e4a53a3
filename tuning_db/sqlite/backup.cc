#include "tuning_db/backup.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "support/file_system.h"
#include "support/status.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/scratch_copy.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {

absl::Status BackUpSqlite(const std::string& path, const std::string& copy) {
  if (std::filesystem::exists(copy)) {
    return absl::AlreadyExistsError(
        fmt::format("{} is there already, and a backup replaces nothing: name another file", copy));
  }
  // Refuses what is no tuning database of this version, and holds the file's locks.
  HONE_ASSIGN_OR_RETURN(const auto store, OpenSqliteStore(path, OpenMode::kReadOnly));
  const sqlite::ScratchCopy scratch(copy + ".new");
  {
    HONE_ASSIGN_OR_RETURN(const auto db, sqlite::Connection::Open(path, sqlite::Access::kRead));
    HONE_RETURN_IF_ERROR(scratch.Fill(*db));
  }
  return RenameDurably(scratch.path(), copy);
}

}  // namespace hone::tuning_db
