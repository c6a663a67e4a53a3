// One connection to SQLite with its prepared statements. Not thread-safe.
#ifndef HONE_TUNING_DB_SQLITE_CONNECTION_H_
#define HONE_TUNING_DB_SQLITE_CONNECTION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "support/status.h"
#include "tuning_db/sqlite/statement.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hone::tuning_db::sqlite {

enum class Access {
  kRead,    // never writes or checkpoints the database
  kFrozen,  // as kRead, for a file that nobody writes, in a folder that we may not write to
  kWrite,   // the one connection that writes and checkpoints; the file must exist
  kCreate,  // makes and writes a file that nobody else knows yet
};

class Connection {
 public:
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const std::string& path, Access access);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Returns a statement with its parameters still to be bound. Its text is prepared once for the
  // connection, which must outlive it.
  absl::StatusOr<Statement> Prepare(const std::string& sql);
  // Runs one or more statements without parameters or rows.
  absl::Status Execute(const std::string& sql);
  // Runs a statement, and ignores its rows.
  template <typename... Values>
  absl::Status Run(const std::string& sql, const Values&... values) {
    HONE_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
    statement.Bind(values...);
    return statement.Step().status();
  }
  // The integer in the first column of the first row, if there is a row.
  template <typename... Values>
  absl::StatusOr<std::optional<int64_t>> Integer(const std::string& sql, const Values&... values) {
    HONE_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
    statement.Bind(values...);
    HONE_ASSIGN_OR_RETURN(const bool has_row, statement.Step());
    if (!has_row) return std::optional<int64_t>();
    return std::optional<int64_t>(statement.Integer(0));
  }
  // Makes each page keep a checksum. Rewrites the whole file if its pages have no room for one.
  // Must not be called in a transaction.
  absl::Status ReserveChecksums();
  int64_t LastInsertId() const;
  // The number of rows that the last statement changed.
  int64_t Changes() const;
  // False outside a transaction, and after SQLite has rolled one back by itself.
  bool IsInTransaction() const;

 private:
  friend class Statement;
  Connection(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  absl::Status Configure(Access access);
  absl::Status ErrorOf(int code, const std::string& doing) const;

  std::string path_;
  sqlite3* handle_;
  std::map<std::string, sqlite3_stmt*> idle_;  // prepared and not in use, by text
};

// What a SQLite result code means to our callers: kInvalidArgument for a file that is not a sound
// database, kUnavailable for a locked one, kFailedPrecondition for writing to one that is open for
// reading, kPermissionDenied, otherwise kInternal.
absl::Status StatusOf(int code, const std::string& message);

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_CONNECTION_H_
