// The tables of a database as `hone db copy` carries them between stores, with the kind of each
// column. A migration that adds a column adds it here, too: a test compares the list with both
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
  kReal,  // may be NULL
  kText,
  kMessage,     // any bytes
  kDigest,      // its 32 bytes, in both stores
  kDigestText,  // SQLite keeps it as text
  kReals,       // the bytes of doubles
  kPacked,      // doubles, which SQLite packs (packed_reals.h)
  kTime,        // nanoseconds since 1970; PostgreSQL keeps a timestamp, in microseconds
};

struct CopiedColumn {
  const char* name;
  ColumnKind kind;
  // The column's name in PostgreSQL; null if it is the same.
  const char* postgres_name = nullptr;
};

struct CopiedTable {
  const char* name;
  std::vector<CopiedColumn> columns;
};

// Ordered so that rows refer only to rows of earlier tables.
const std::vector<CopiedTable>& CopiedTables();

// The value of a column: NULL, an integer (also truth values and times), a double, a text (also
// digests, in hexadecimal), or doubles.
using CopiedValue = std::variant<std::monostate, int64_t, double, std::string, std::vector<double>>;
using CopiedRow = std::vector<CopiedValue>;

// One state of a database, read table by table. Not thread-safe.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual absl::Status Begin(const CopiedTable& table) = 0;
  // The next rows of the table that was begun; empty after the last.
  virtual absl::StatusOr<std::vector<CopiedRow>> Next() = 0;
};

// A database to fill. It stays without any of the rows unless Finish succeeds. Not thread-safe.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual absl::Status Add(const CopiedTable& table, const std::vector<CopiedRow>& rows) = 0;
  virtual absl::Status Finish() = 0;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_COPIED_TABLES_H_
