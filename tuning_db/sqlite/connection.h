// One connection to SQLite, and the statements it keeps prepared. Not thread-safe.
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
  kFrozen,  // as kRead, of a file that nobody writes meanwhile, in a folder that we may not write
  kWrite,   // the one connection that writes and checkpoints; the file must exist
  kCreate,  // of a file that nobody else knows yet
};

class Connection {
 public:
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const std::string& path, Access access);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // A statement ready to be bound. Its text is prepared once for the connection, which must outlive
  // it.
  absl::StatusOr<Statement> Prepare(const std::string& sql);
  // One or more statements without parameters and rows.
  absl::Status Execute(const std::string& sql);
  // A statement whose rows do not matter.
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
  // Makes each page keep a checksum; writes the whole file anew where pages have no room for it.
  // Outside of transactions.
  absl::Status ReserveChecksums();
  int64_t LastInsertId() const;
  // Rows that the last statement changed.
  int64_t Changes() const;
  // False once SQLite has rolled a transaction back by itself, or outside of one.
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

// What a SQLite result code means to our callers: kInvalidArgument for a file that is no sound
// database, kUnavailable for a locked one, kFailedPrecondition for writing what is open for
// reading, kPermissionDenied, otherwise kInternal.
absl::Status StatusOf(int code, const std::string& message);

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_CONNECTION_H_
