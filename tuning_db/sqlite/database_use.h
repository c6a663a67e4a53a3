// Which database files this process has open.
//
// POSIX drops all locks that a process has on a file when the process closes any descriptor of it.
// So nothing else in this process may open and close a file that SQLite has open: another process
// could then believe that it is alone, and remove the log while we use it
// (sqlite.org/howtocorrupt.html, 2.2).
#ifndef HONE_TUNING_DB_SQLITE_DATABASE_USE_H_
#define HONE_TUNING_DB_SQLITE_DATABASE_USE_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace hone::tuning_db::sqlite {

class DatabaseUse {
 public:
  // Inspects the file (InspectDatabaseFile) unless this process uses it already, and counts it as
  // used until the result is destroyed. The result must outlive all connections to the file.
  // Thread-safe.
  static absl::StatusOr<std::unique_ptr<DatabaseUse>> Begin(const std::string& path);
  ~DatabaseUse();
  DatabaseUse(const DatabaseUse&) = delete;
  DatabaseUse& operator=(const DatabaseUse&) = delete;

 private:
  using Identity = std::pair<dev_t, ino_t>;
  explicit DatabaseUse(Identity file) : file_(file) {}
  const Identity file_;
};

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_DATABASE_USE_H_
