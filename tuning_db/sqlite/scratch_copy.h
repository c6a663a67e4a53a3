// A temporary copy of a database beside it, to work on.
#ifndef HONE_TUNING_DB_SQLITE_SCRATCH_COPY_H_
#define HONE_TUNING_DB_SQLITE_SCRATCH_COPY_H_

#include <string>

#include "absl/status/status.h"
#include "tuning_db/sqlite/connection.h"

namespace hone::tuning_db::sqlite {

// Removes the file at its path when it begins, as a crash may have left one there, and when it
// ends.
class ScratchCopy {
 public:
  explicit ScratchCopy(std::string path) : path_(std::move(path)) { Remove(); }
  ~ScratchCopy() { Remove(); }
  ScratchCopy(const ScratchCopy&) = delete;
  ScratchCopy& operator=(const ScratchCopy&) = delete;

  const std::string& path() const { return path_; }
  // Copies one consistent state of the database, which may be written meanwhile. The copy is synced
  // and needs no log beside it. Errors name the copy.
  absl::Status Fill(Connection& from) const;

 private:
  void Remove() const;

  const std::string path_;
};

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_SCRATCH_COPY_H_
