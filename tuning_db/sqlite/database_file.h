// Inspects a database file before SQLite opens it, so that a file that is not ours stays untouched.
#ifndef HONE_TUNING_DB_SQLITE_DATABASE_FILE_H_
#define HONE_TUNING_DB_SQLITE_DATABASE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hone::tuning_db::sqlite {

// Reads the header and writes nothing. kNotFound if there is no file, kInvalidArgument if it is not
// a SQLite database, is truncated, or is not Hone's, kFailedPrecondition if its version is newer.
absl::Status InspectDatabaseFile(const std::string& path);

// Makes an empty database of the newest version, whole or not at all: it is built under another
// name and then renamed. The caller holds FILE.lock. Passes the crash points create.*, migration.*
// and file.rename.*.
absl::Status CreateDatabaseFile(const std::string& path);

// The file's name with all links resolved, so that everybody agrees on FILE.lock and FILE-wal. The
// file need not exist, but its folder must (kNotFound).
absl::StatusOr<std::string> CanonicalPath(const std::string& path);

// Whether no process writes the file, and no write-ahead log is left to be read.
bool IsQuiet(const std::string& path);
// A text that changes whenever somebody writes the file.
std::string StateOf(const std::string& path);

// kFailedPrecondition if `path` or its folder is on a network file system, since SQLite's locks and
// shared memory do not work across machines.
absl::Status RefuseNetworkFileSystem(const std::string& path);
// The name of the network file system with this f_type of statfs(2), or "" for a local one.
std::string NetworkFileSystemName(long type);

// The error for a database of a version above ours: `hone` has to be updated.
absl::Status NewerVersion(const std::string& path, int version);

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_DATABASE_FILE_H_
