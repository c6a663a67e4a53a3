// Copies a whole database to another place, in SQLite or PostgreSQL.
#ifndef HONE_TUNING_DB_COPY_DATABASE_H_
#define HONE_TUNING_DB_COPY_DATABASE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace hone::tuning_db {

// Copies one consistent state of `from`, which may be written meanwhile, to `to`, which must not
// exist yet: neither as a file nor, on a server, as rows of ours. Ids stay the same, and later ones
// continue above them. The copy is there whole or not at all, even after a crash. Returns how many
// rows were copied. kInvalidArgument if `to` exists; other errors are those of OpenStore.
absl::StatusOr<int64_t> CopyDatabase(const std::string& from, const std::string& to);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_COPY_DATABASE_H_
