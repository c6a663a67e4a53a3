// Opens the store in a SQLite file.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "support/file_system.h"
#include "support/status.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/sqlite/database_file.h"
#include "tuning_db/sqlite/database_use.h"
#include "tuning_db/sqlite/lock_file.h"
#include "tuning_db/sqlite/schema.h"
#include "tuning_db/sqlite/sqlite_store.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {
namespace {

using sqlite::Connection;
using sqlite::SqliteStore;

std::string LockPath(const std::string& path) { return path + ".lock"; }

absl::Status MakeParentFolders(const std::string& path) {
  std::error_code error;
  const auto folder = std::filesystem::absolute(path, error).parent_path();
  std::filesystem::create_directories(folder, error);
  return error ? ErrnoStatus(error.value(), "make the folder", folder.string()) : absl::OkStatus();
}

// Read-only: opens once, so that errors show now, and holds the version to ours.
absl::Status CheckReadable(const std::string& path, sqlite::Access access) {
  HONE_ASSIGN_OR_RETURN(const auto db, Connection::Open(path, access));
  HONE_ASSIGN_OR_RETURN(const int version, sqlite::VersionOf(*db));
  if (version > sqlite::NewestVersion()) return sqlite::NewerVersion(path, version);
  if (version == sqlite::NewestVersion()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("{} has schema version {}, which this Hone reads only after a migration to {}: "
                  "run `hone db migrate --db {}`",
                  path, version, sqlite::NewestVersion(), path));
}

absl::StatusOr<std::unique_ptr<Store>> OpenToRead(const std::string& path,
                                                  std::unique_ptr<sqlite::DatabaseUse> use,
                                                  const Clock& clock) {
  absl::Status status = CheckReadable(path, sqlite::Access::kRead);
  bool is_frozen = false;
  if (!status.ok() && sqlite::IsQuiet(path)) {
    // In a folder that we may not write, SQLite cannot make the FILE-shm that it reads with.
    is_frozen = CheckReadable(path, sqlite::Access::kFrozen).ok();
    if (is_frozen) status = absl::OkStatus();
  }
  HONE_RETURN_IF_ERROR(status);
  return std::make_unique<SqliteStore>(path, std::move(use), clock, is_frozen);
}

absl::Status RequireWritable(const std::string& path) {
  return access(path.c_str(), W_OK) == 0 ? absl::OkStatus()
                                         : ErrnoStatus(errno, "write the tuning database", path);
}

// Looks at the version through a reader: a writer's close would move a newer Hone's log into the
// file.
absl::Status RefuseNewerVersion(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const auto db, Connection::Open(path, sqlite::Access::kRead));
  HONE_ASSIGN_OR_RETURN(const int version, sqlite::VersionOf(*db));
  return version > sqlite::NewestVersion() ? sqlite::NewerVersion(path, version) : absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Connection>> OpenForWriting(const std::string& path) {
  HONE_RETURN_IF_ERROR(RefuseNewerVersion(path));
  HONE_ASSIGN_OR_RETURN(auto db, Connection::Open(path, sqlite::Access::kWrite));
  HONE_RETURN_IF_ERROR(sqlite::Migrate(*db));
  return db;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const std::string& given, OpenMode mode,
                                                       const Writer& self, const Clock& clock) {
  if (mode == OpenMode::kCreate) HONE_RETURN_IF_ERROR(MakeParentFolders(given));
  HONE_ASSIGN_OR_RETURN(const std::string path, sqlite::CanonicalPath(given));
  HONE_RETURN_IF_ERROR(sqlite::RefuseNetworkFileSystem(path));
  auto use = sqlite::DatabaseUse::Begin(path);
  const bool is_new = mode == OpenMode::kCreate && absl::IsNotFound(use.status());
  if (!is_new) HONE_RETURN_IF_ERROR(use.status());
  if (mode == OpenMode::kReadOnly) return OpenToRead(path, *std::move(use), clock);

  if (!is_new) HONE_RETURN_IF_ERROR(RequireWritable(path));
  HONE_ASSIGN_OR_RETURN(auto lock, sqlite::LockFile::Take(LockPath(path), self));
  if (is_new) {
    // Another may have made it while we had no lock.
    if (!std::filesystem::exists(path)) HONE_RETURN_IF_ERROR(sqlite::CreateDatabaseFile(path));
    use = sqlite::DatabaseUse::Begin(path);
    HONE_RETURN_IF_ERROR(use.status());
  }
  HONE_ASSIGN_OR_RETURN(auto db, OpenForWriting(path));
  auto store = std::make_unique<SqliteStore>(path, *std::move(use), clock, /*is_frozen=*/false);
  store->MakeWriter(std::move(lock), std::move(db));
  return store;
}

std::string DefaultPath() {
  const char* data_home = std::getenv("XDG_DATA_HOME");
  if (data_home != nullptr && data_home[0] == '/') return std::string(data_home) + "/hone/hone.db";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : "") + "/.local/share/hone/hone.db";
}

bool IsService(const Writer& writer) { return !writer.address.empty() && writer.client == 0; }

std::string Describe(const Writer& writer) {
  if (writer.client != 0) return fmt::format("a `hone tune` (process {})", writer.client);
  if (!writer.address.empty()) return writer.address;
  return writer.pid != 0 ? fmt::format("process {}", writer.pid) : "another process";
}

absl::StatusOr<std::optional<Writer>> WriterOf(const std::string& path) {
  if (IsPostgresAddress(path)) return std::nullopt;  // it has many
  const absl::StatusOr<std::string> canonical = sqlite::CanonicalPath(path);
  if (absl::IsNotFound(canonical.status())) return std::nullopt;
  HONE_RETURN_IF_ERROR(canonical.status());
  return sqlite::LockFile::HolderOf(LockPath(*canonical));
}

}  // namespace hone::tuning_db
