#include "tuning_db/sqlite/sqlite_store.h"

#include <fmt/format.h>

namespace hone::tuning_db::sqlite {

absl::Status SqliteStore::ReadOnly() const {
  return absl::FailedPreconditionError(
      fmt::format("{} was opened for reading only and cannot be changed", path_));
}

absl::Status SqliteStore::Change(std::string_view name,
                                 const std::function<absl::Status(Connection&)>& run) {
  if (writer_ == nullptr) return ReadOnly();
  return writer_->queue.Commit({name, run});
}

}  // namespace hone::tuning_db::sqlite
