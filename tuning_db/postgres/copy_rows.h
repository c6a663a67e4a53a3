// A database in PostgreSQL as `hone db copy` reads and makes it (copied_tables.h).
#ifndef HONE_TUNING_DB_POSTGRES_COPY_ROWS_H_
#define HONE_TUNING_DB_POSTGRES_COPY_ROWS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tuning_db/copied_tables.h"

namespace hone::tuning_db::postgres {

// The errors are those of OpenStore, for reading and for writing. OpenRowSink also gives
// kInvalidArgument if the database already has tables of ours.
absl::StatusOr<std::unique_ptr<RowSource>> OpenRowSource(const std::string& address);
absl::StatusOr<std::unique_ptr<RowSink>> OpenRowSink(const std::string& address);

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_COPY_ROWS_H_
