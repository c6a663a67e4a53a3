#include "tuning_db/sqlite/scratch_copy.h"

#include <fmt/format.h>
#include <unistd.h>

#include "support/status.h"

namespace hone::tuning_db::sqlite {

// SQLite neither syncs what it copies so, nor makes it a database with a log; the change of mode
// syncs the whole file.
absl::Status ScratchCopy::Fill(Connection& from) const {
  const absl::Status filled = from.Run("VACUUM INTO ?", path_);
  if (!filled.ok()) {
    return {filled.code(),
            fmt::format("cannot make a copy at {}: {}", path_, std::string(filled.message()))};
  }
  HONE_ASSIGN_OR_RETURN(const auto copy, Connection::Open(path_, Access::kWrite));
  return copy->Execute("PRAGMA journal_mode = WAL");
}

void ScratchCopy::Remove() const {
  for (const char* suffix : {"", "-journal", "-wal", "-shm", ".lock"}) {
    unlink((path_ + suffix).c_str());
  }
}

}  // namespace hone::tuning_db::sqlite
