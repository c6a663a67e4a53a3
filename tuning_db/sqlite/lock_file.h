// FILE.lock: who may write the database. The lock is the kernel's (flock), so it ends with its
// holder; the bytes in the file only say who that is.
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
  // Takes the lock and writes `self`, with this process's number, into it. kUnavailable names the
  // holder. Passes the crash points lock.*.
  static absl::StatusOr<std::unique_ptr<LockFile>> Take(const std::string& path,
                                                        const Writer& self);
  // The file stays: to unlink a lock file lets two hold locks of one name.
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  // Who the live holder said it is; none where nobody holds the lock. Without a word where it has
  // said nothing yet.
  static absl::StatusOr<std::optional<Writer>> HolderOf(const std::string& path);

 private:
  explicit LockFile(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_LOCK_FILE_H_
