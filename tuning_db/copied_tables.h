// The tables of a database as `hone db copy` carries them between stores, with what stands in each
// column. A column of a new migration is added here, too: a test holds the list against both
// schemas.
#ifndef HONE_TUNING_DB_COPIED_TABLES_H_
#define HONE_TUNING_DB_COPIED_TABLES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hone::tuning_db {

enum class ColumnKind {
  kInteger,
  kTruth,
  kReal,  // may be missing
  kText,
  kMessage,     // any bytes
  kDigest,      // by its bytes, in both
  kDigestText,  // SQLite keeps it as text
  kReals,       // the bytes of figures
  kPacked,      // SQLite packs them
  kTime,        // nanoseconds since 1970; PostgreSQL keeps a time, of microseconds
};

struct CopiedColumn {
  const char* name;
  ColumnKind kind;
  // In PostgreSQL, where it is called something else there.
  const char* postgres_name = nullptr;
};

struct CopiedTable {
  const char* name;
  std::vector<CopiedColumn> columns;
};

// In an order in which a row refers to rows of tables before its own only.
const std::vector<CopiedTable>& CopiedTables();

// The value of a column: nothing, an integer (truths and times, too), a figure, a text (digests in
// hexadecimal), figures.
using CopiedValue = std::variant<std::monostate, int64_t, double, std::string, std::vector<double>>;
using CopiedRow = std::vector<CopiedValue>;

// One state of a database, read table by table. Not thread-safe.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual absl::Status Begin(const CopiedTable& table) = 0;
  // Some rows of the table that was begun; none after the last.
  virtual absl::StatusOr<std::vector<CopiedRow>> Next() = 0;
};

// A database that is filled, and has nothing of it unless Finish succeeds. Not thread-safe.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual absl::Status Add(const CopiedTable& table, const std::vector<CopiedRow>& rows) = 0;
  virtual absl::Status Finish() = 0;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_COPIED_TABLES_H_
