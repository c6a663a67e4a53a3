// Copies of a tuning database.
#ifndef HONE_TUNING_DB_BACKUP_H_
#define HONE_TUNING_DB_BACKUP_H_

#include <string>

#include "absl/status/status.h"

namespace hone::tuning_db {

// Copies one consistent state of the SQLite database to a file that needs no log beside it. The
// writer, in this process or another, may write meanwhile. kAlreadyExists if the copy would replace
// a file; other errors are those of OpenSqliteStore. After an error there is no copy.
absl::Status BackUpSqlite(const std::string& path, const std::string& copy);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_BACKUP_H_
