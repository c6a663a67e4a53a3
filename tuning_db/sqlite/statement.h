// A prepared statement: bind its parameters in order, then step through its rows.
#ifndef HONE_TUNING_DB_SQLITE_STATEMENT_H_
#define HONE_TUNING_DB_SQLITE_STATEMENT_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3_stmt;

namespace hone::tuning_db::sqlite {

class Connection;

// A digest in hexadecimal, to be bound as its bytes (digest_bytes.h).
struct Digest {
  std::string_view text;
};

// Doubles to be bound as PackReals packs them.
struct Packed {
  const std::vector<double>& values;
};

// Goes back to its connection when destroyed. Step returns errors of Bind. Not thread-safe.
class Statement {
 public:
  Statement(Connection* connection, sqlite3_stmt* handle)
      : connection_(connection), handle_(handle) {}
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Binds integers, enums, doubles (NaN as NULL), texts, vectors of doubles (a blob of their
  // bytes), Packed, Digest, and optionals of these (nullopt as NULL).
  template <typename... Values>
  void Bind(const Values&... values) {
    (BindNext(values), ...);
  }

  // Moves to the next row. False if there is none.
  absl::StatusOr<bool> Step();

  // Columns of the current row, counted from 0.
  int64_t Integer(int column) const;
  double Real(int column) const;  // NULL is NaN
  std::string Text(int column) const;
  std::string DigestText(int column) const;  // of what was bound as a Digest
  bool IsNull(int column) const;
  std::vector<double> Reals(int column) const;
  std::vector<double> PackedReals(int column) const;  // of what was bound as a Packed
  template <typename Enum>
  Enum As(int column) const {
    return static_cast<Enum>(Integer(column));
  }

 private:
  template <std::integral Value>
  void BindNext(Value value) {
    BindInteger(static_cast<int64_t>(value));
  }
  template <typename Value>
    requires std::is_enum_v<Value>
  void BindNext(Value value) {
    BindInteger(static_cast<int64_t>(value));
  }
  template <typename Value>
  void BindNext(const std::optional<Value>& value) {
    value ? BindNext(*value) : BindNull();
  }
  void BindNext(double value);
  void BindNext(std::string_view text);
  void BindNext(const std::string& text) { BindNext(std::string_view(text)); }
  void BindNext(const char* text) { BindNext(std::string_view(text)); }
  void BindNext(const std::vector<double>& values);
  void BindNext(const Digest& digest);
  void BindNext(const Packed& packed);
  void BindInteger(int64_t value);
  void BindNull();
  void Note(int code);

  Connection* connection_;
  sqlite3_stmt* handle_;
  int bound_ = 0;
  int bind_error_ = 0;
};

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_STATEMENT_H_
