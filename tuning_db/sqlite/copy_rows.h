// A database in SQLite as `hone db copy` reads and makes it (copied_tables.h).
#ifndef HONE_TUNING_DB_SQLITE_COPY_ROWS_H_
#define HONE_TUNING_DB_SQLITE_COPY_ROWS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tuning_db/copied_tables.h"

namespace hone::tuning_db::sqlite {

// The errors are those of OpenStore, for reading and for writing. OpenRowSink also gives
// kInvalidArgument if the file exists.
absl::StatusOr<std::unique_ptr<RowSource>> OpenRowSource(const std::string& path);
absl::StatusOr<std::unique_ptr<RowSink>> OpenRowSink(const std::string& path);

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_COPY_ROWS_H_
