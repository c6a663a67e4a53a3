// A copy of a database that is worked on beside it.
#ifndef HONE_TUNING_DB_SQLITE_SCRATCH_COPY_H_
#define HONE_TUNING_DB_SQLITE_SCRATCH_COPY_H_

#include <string>

#include "absl/status/status.h"
#include "tuning_db/sqlite/connection.h"

namespace hone::tuning_db::sqlite {

// What is at its path goes at the beginning, as a crash may have left it there, and at the end.
class ScratchCopy {
 public:
  explicit ScratchCopy(std::string path) : path_(std::move(path)) { Remove(); }
  ~ScratchCopy() { Remove(); }
  ScratchCopy(const ScratchCopy&) = delete;
  ScratchCopy& operator=(const ScratchCopy&) = delete;

  const std::string& path() const { return path_; }
  // Takes one state of the database, which may be written meanwhile. The copy is synced and needs
  // no log beside it. Errors name the copy.
  absl::Status Fill(Connection& from) const;

 private:
  void Remove() const;

  const std::string path_;
};

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_SCRATCH_COPY_H_
