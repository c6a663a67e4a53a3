// One connection to PostgreSQL with its prepared statements. Not thread-safe.
#ifndef HONE_TUNING_DB_POSTGRES_CONNECTION_H_
#define HONE_TUNING_DB_POSTGRES_CONNECTION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "support/status.h"
#include "tuning_db/postgres/parameters.h"

struct pg_conn;
struct pg_result;

namespace hone::tuning_db::postgres {

// One row of a result, valid as long as its Rows. Columns count from 0.
class Row {
 public:
  Row(const pg_result* result, int row) : result_(result), row_(row) {}
  int64_t Integer(int column) const;   // NULL is 0; a truth value is 1 or 0
  double Real(int column) const;       // NULL is NaN
  std::string Text(int column) const;  // NULL is empty
  std::string Bytes(int column) const;
  std::string DigestText(int column) const;  // of a value that was bound as a Digest
  bool IsNull(int column) const;
  std::vector<double> Reals(int column) const;
  template <typename Enum>
  Enum As(int column) const {
    return static_cast<Enum>(Integer(column));
  }

 private:
  const pg_result* result_;
  int row_;
};

// All rows that a statement returned.
class Rows {
 public:
  explicit Rows(pg_result* result) : result_(result) {}
  int size() const;
  bool empty() const { return size() == 0; }
  Row operator[](int row) const { return {result_.get(), row}; }

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

// What the failure of a statement means for the connection's transaction.
enum class Failure {
  kNone,
  kRefused,  // the statement is at fault: it would fail again
  kPassing,  // the server gave it up (deadlock, serialization, a time limit): run it again
  kLost,     // the connection is gone, and its transaction with it unless COMMIT was under way
};

class Connection {
 public:
  // `address` is a URI of libpq ("postgresql://...").
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const std::string& address);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Runs a statement with parameters $1, $2, .... Its text is prepared once for the connection.
  template <typename... Values>
  absl::StatusOr<Rows> Query(const std::string& sql, const Values&... values) {
    Parameters parameters;
    (parameters.Add(values), ...);
    return QueryWith(sql, parameters);
  }
  absl::StatusOr<Rows> QueryWith(const std::string& sql, const Parameters& parameters);
  // Runs a statement that may change the database, and ignores its rows.
  template <typename... Values>
  absl::Status Change(const std::string& sql, const Values&... values) {
    has_changed_ = true;
    return Query(sql, values...).status();
  }
  // The integer in the first column of the first row, if there is a row.
  template <typename... Values>
  absl::StatusOr<std::optional<int64_t>> Integer(const std::string& sql, const Values&... values) {
    HONE_ASSIGN_OR_RETURN(const Rows rows, Query(sql, values...));
    if (rows.empty()) return std::optional<int64_t>();
    return std::optional<int64_t>(rows[0].Integer(0));
  }
  // Runs an INSERT with RETURNING id, and returns the id.
  template <typename... Values>
  absl::StatusOr<int64_t> Insert(const std::string& sql, const Values&... values) {
    has_changed_ = true;
    HONE_ASSIGN_OR_RETURN(const auto id, Integer(sql, values...));
    return id.value_or(0);
  }
  // Runs one or more statements without parameters or rows.
  absl::Status Execute(const std::string& sql);

  // For LISTEN: a descriptor that is readable when a notification may have come, and the payloads
  // of those that have come.
  int Socket() const;
  absl::StatusOr<std::vector<std::string>> Notifications();

  // The failure of the last statement that failed since ForgetFailure was called.
  Failure failure() const { return failure_; }
  // The number of rows that the last statement of Execute changed.
  int changed_rows() const { return changed_rows_; }
  void ForgetFailure() { failure_ = Failure::kNone; }
  // Whether Change or Insert was called since the last call of ForgetChanges.
  bool has_changed() const { return has_changed_; }
  void ForgetChanges() { has_changed_ = false; }

  // A cache of the ids of rows of `texts`, which are never changed or removed. Call ForgetTexts
  // after a rollback, which may undo what was learnt.
  std::optional<int64_t> KnownText(const std::string& text) const;
  void LearnText(const std::string& text, int64_t id);
  void ForgetTexts() { texts_.clear(); }

 private:
  explicit Connection(pg_conn* handle) : handle_(handle) {}
  absl::Status Configure();
  absl::StatusOr<std::string> Prepare(const std::string& sql);
  absl::Status ErrorOf(const pg_result* result);

  pg_conn* handle_;
  std::map<std::string, std::string> prepared_;  // names, by text
  std::map<std::string, int64_t> texts_;
  Failure failure_ = Failure::kNone;
  bool has_changed_ = false;
  int changed_rows_ = 0;
};

// What a SQLSTATE of five characters means.
Failure FailureOf(const std::string& sqlstate);
absl::StatusCode CodeOf(const std::string& sqlstate);

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_CONNECTION_H_
