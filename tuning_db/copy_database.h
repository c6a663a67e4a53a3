// Copies a whole database to another place, in SQLite or PostgreSQL.
#ifndef HONE_TUNING_DB_COPY_DATABASE_H_
#define HONE_TUNING_DB_COPY_DATABASE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace hone::tuning_db {

// Copies one state of `from`, which may be written meanwhile, to `to`, where nothing may be yet: no
// file, or a database of a server that holds no rows of ours. Ids stay, and new ones go on above
// them. The copy is there whole or not at all, whatever happens. Answers how many rows it has.
// Errors are those of OpenStore; kInvalidArgument where something is there.
absl::StatusOr<int64_t> CopyDatabase(const std::string& from, const std::string& to);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_COPY_DATABASE_H_
