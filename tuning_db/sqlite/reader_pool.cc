#include "tuning_db/sqlite/reader_pool.h"

namespace hone::tuning_db::sqlite {

absl::StatusOr<std::unique_ptr<Connection>> ReaderPool::Take() {
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
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(db));
}

}  // namespace hone::tuning_db::sqlite
