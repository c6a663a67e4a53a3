#include "tuning_db/sqlite/reader_pool.h"

#include <fmt/format.h>

#include "tuning_db/sqlite/database_file.h"

namespace hone::tuning_db::sqlite {

absl::StatusOr<std::unique_ptr<Connection>> ReaderPool::Take() {
  if (is_frozen_) return Connection::Open(path_, Access::kFrozen);
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Connection> db = std::move(idle_.back());
      idle_.pop_back();
      return db;
    }
  }
  return Connection::Open(path_, Access::kRead);
}

void ReaderPool::GiveBack(std::unique_ptr<Connection> db) {
  if (is_frozen_) return;
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(db));
}

std::string ReaderPool::State() const { return is_frozen_ ? StateOf(path_) : ""; }

absl::Status ReaderPool::Changed() const {
  return absl::UnavailableError(
      fmt::format("{} was written while it was read, from a folder that may not be written: try "
                  "again",
                  path_));
}

}  // namespace hone::tuning_db::sqlite
