// What can be said of a database file before SQLite opens it, so that a file that is not ours is
// left as it is.
#ifndef HONE_TUNING_DB_SQLITE_DATABASE_FILE_H_
#define HONE_TUNING_DB_SQLITE_DATABASE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hone::tuning_db::sqlite {

// Reads the header. kNotFound; kInvalidArgument: no SQLite database, truncated, or not Hone's;
// kFailedPrecondition: of a newer version. Writes nothing.
absl::Status InspectDatabaseFile(const std::string& path);

// Makes an empty database of the newest version, whole or not at all: it is built under another
// name and renamed. Only under FILE.lock. Passes the crash points create.*, migration.* and
// file.rename.*.
absl::Status CreateDatabaseFile(const std::string& path);

// The one name of the file behind links, so that all agree on FILE.lock and FILE-wal. The file need
// not exist, its folder must (kNotFound).
absl::StatusOr<std::string> CanonicalPath(const std::string& path);

// Whether nobody writes the file, nor left a log that is still to be read.
bool IsQuiet(const std::string& path);
// Changes whenever somebody writes the file.
std::string StateOf(const std::string& path);

// SQLite's locks and shared memory do not hold across machines: kFailedPrecondition where `path` or
// its folder lies on such a file system.
absl::Status RefuseNetworkFileSystem(const std::string& path);
// By the f_type of statfs(2): its name, or "" for a local one.
std::string NetworkFileSystemName(long type);

// The refusal of a version above ours; `hone` has to be updated.
absl::Status NewerVersion(const std::string& path, int version);

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_DATABASE_FILE_H_
