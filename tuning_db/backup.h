// Copies of a tuning database.
#ifndef HONE_TUNING_DB_BACKUP_H_
#define HONE_TUNING_DB_BACKUP_H_

#include <string>

#include "absl/status/status.h"

namespace hone::tuning_db {

// One sound state of the SQLite database, as a file of its own that needs no log beside it. The
// writer, in this process or another, writes on meanwhile. kAlreadyExists where the copy would
// replace a file; after an error there is no copy. Other errors are those of OpenSqliteStore.
absl::Status BackUpSqlite(const std::string& path, const std::string& copy);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_BACKUP_H_
