#include "tuning_db/log_store.h"

#include <utility>

#include "support/status.h"

namespace hone::tuning_db {

absl::StatusOr<std::vector<Record>> LogStore::Records(const RecordFilter& filter) {
  HONE_ASSIGN_OR_RETURN(RecordPage page, ListRecords(filter, Order::kOldestFirst, "", 0));
  return std::move(page.records);
}

absl::StatusOr<std::vector<TaskFinal>> LogStore::Finals(const RecordFilter& filter) {
  HONE_ASSIGN_OR_RETURN(FinalPage page, ListFinals(filter, "", 0));
  return std::move(page.finals);
}

}  // namespace hone::tuning_db
