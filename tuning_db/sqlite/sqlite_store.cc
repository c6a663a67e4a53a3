#include "tuning_db/sqlite/sqlite_store.h"

#include <fmt/format.h>

#include <utility>

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

std::unique_ptr<Subscription> SqliteStore::Subscribe(
    std::function<void(const tuning_db::Change& change)> on_change) {
  return subscribers_.Add(std::move(on_change));
}

void SqliteStore::TellChanges() {
  for (const int64_t job : std::exchange(changed_, {})) subscribers_.Tell({job});
}

}  // namespace hone::tuning_db::sqlite
