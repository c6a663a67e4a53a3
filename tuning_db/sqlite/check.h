// Checks what must hold in a database beyond what its tables enforce.
#ifndef HONE_TUNING_DB_SQLITE_CHECK_H_
#define HONE_TUNING_DB_SQLITE_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tuning_db/sqlite/connection.h"

namespace hone::tuning_db::sqlite {

// Sentences about everything that does not hold; empty if the database is sound.
absl::StatusOr<std::vector<std::string>> CheckDatabase(Connection& db);

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_CHECK_H_
