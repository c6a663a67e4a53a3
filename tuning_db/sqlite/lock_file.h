// FILE.lock, which the one writer of a database locks. The kernel holds the lock (flock), so it
// ends with its holder; the bytes in the file only say who that is.
#ifndef HONE_TUNING_DB_SQLITE_LOCK_FILE_H_
#define HONE_TUNING_DB_SQLITE_LOCK_FILE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tuning_db/store.h"

namespace hone::tuning_db::sqlite {

class LockFile {
 public:
  // Takes the lock and writes `self`, with this process's id, into the file. kUnavailable if
  // another process holds it, whom the message names. Passes the crash points lock.*.
  static absl::StatusOr<std::unique_ptr<LockFile>> Take(const std::string& path,
                                                        const Writer& self);
  // The file stays: if it were removed, two processes could hold locks of the same name.
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  // The live holder, as it describes itself; nullopt if nobody holds the lock. An empty Writer if
  // the holder has not described itself yet.
  static absl::StatusOr<std::optional<Writer>> HolderOf(const std::string& path);

 private:
  explicit LockFile(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_LOCK_FILE_H_
