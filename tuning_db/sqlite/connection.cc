#include "tuning_db/sqlite/connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "tuning_db/sqlite/checksum_vfs.h"
#include "tuning_db/sqlite/sql_functions.h"

namespace hone::tuning_db::sqlite {
namespace {

constexpr int kBusyTimeoutMs = 10'000;

int FlagsOf(Access access) {
  // Each connection is used by one thread at a time: SQLite's own mutexes are not needed.
  constexpr int kCommon = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
  switch (access) {
    case Access::kRead:
      return kCommon | SQLITE_OPEN_READONLY;
    case Access::kFrozen:
      return kCommon | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    case Access::kWrite:
      return kCommon | SQLITE_OPEN_READWRITE;
    case Access::kCreate:
      return kCommon | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
  return kCommon;
}

// Even to read, SQLite makes FILE-shm; not so in a file said to be immutable.
std::string NameFor(const std::string& path, Access access) {
  if (access != Access::kFrozen) return path;
  std::string uri = "file:";
  for (const char c : path) {
    const bool is_special = c == '%' || c == '?' || c == '#';
    uri += is_special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return uri + "?immutable=1";
}

}  // namespace

absl::Status StatusOf(int code, const std::string& message) {
  // A page is not as it was written (checksum_vfs.h).
  if (code == SQLITE_IOERR_DATA) {
    return absl::InvalidArgumentError(message + "; the file is damaged: restore a backup");
  }
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return absl::InvalidArgumentError(message + "; the file is damaged: restore a backup");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(message);
    case SQLITE_READONLY:
      return absl::FailedPreconditionError(message);
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return absl::PermissionDeniedError(message);
    default:
      return absl::InternalError(message);
  }
}

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const std::string& path,
                                                             Access access) {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(NameFor(path, access).c_str(), &handle, FlagsOf(access), ChecksumVfs());
  std::unique_ptr<Connection> connection(new Connection(path, handle));
  if (code != SQLITE_OK) return connection->ErrorOf(code, "open");
  HONE_RETURN_IF_ERROR(connection->Configure(access));
  if (access == Access::kCreate) HONE_RETURN_IF_ERROR(connection->ReserveChecksums());
  return connection;
}

absl::Status Connection::Configure(Access access) {
  const int code = AddSqlFunctions(handle_);
  if (code != SQLITE_OK) return ErrorOf(code, "open");
  sqlite3_busy_timeout(handle_, kBusyTimeoutMs);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  // Only the writer may checkpoint, also at the close of a last connection.
  if (access == Access::kRead || access == Access::kFrozen) {
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  return Execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY");
}

absl::Status Connection::ReserveChecksums() {
  int bytes = kChecksumBytes;
  const int code = sqlite3_file_control(handle_, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
  if (code != SQLITE_OK) return ErrorOf(code, "use");
  if (bytes == kChecksumBytes) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(const auto pages, Integer("PRAGMA page_count"));
  return pages.value_or(0) > 0 ? Execute("VACUUM") : absl::OkStatus();
}

Connection::~Connection() {
  for (const auto& [sql, statement] : idle_) sqlite3_finalize(statement);
  sqlite3_close_v2(handle_);
}

absl::StatusOr<Statement> Connection::Prepare(const std::string& sql) {
  if (const auto it = idle_.find(sql); it != idle_.end()) {
    sqlite3_stmt* const statement = it->second;
    idle_.erase(it);
    return Statement(this, statement);
  }
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.c_str(), static_cast<int>(sql.size()) + 1,
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return ErrorOf(code, "read");
  return Statement(this, statement);
}

absl::Status Connection::Execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : ErrorOf(code, "use");
}

int64_t Connection::LastInsertId() const { return sqlite3_last_insert_rowid(handle_); }

int64_t Connection::Changes() const { return sqlite3_changes64(handle_); }

bool Connection::IsInTransaction() const { return sqlite3_get_autocommit(handle_) == 0; }

absl::Status Connection::ErrorOf(int code, const std::string& doing) const {
  return StatusOf(code,
                  fmt::format("cannot {} the tuning database {}: {}", doing, path_,
                              handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(code)));
}

}  // namespace hone::tuning_db::sqlite
