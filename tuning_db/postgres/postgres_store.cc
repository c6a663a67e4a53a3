#include "tuning_db/postgres/postgres_store.h"

namespace hone::tuning_db::postgres {

absl::Status PostgresStore::ReadOnly() const {
  return absl::FailedPreconditionError(
      "the tuning database was opened for reading only and cannot be changed");
}

absl::Status PostgresStore::Change(std::string_view name,
                                   const std::function<absl::Status(Connection&)>& run) {
  if (writer_ == nullptr) return ReadOnly();
  return writer_->Commit({name, run});
}

}  // namespace hone::tuning_db::postgres
