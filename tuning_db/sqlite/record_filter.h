// A filter of the log, with ids of rows in place of the filter's texts.
#ifndef HONE_TUNING_DB_SQLITE_RECORD_FILTER_H_
#define HONE_TUNING_DB_SQLITE_RECORD_FILTER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tuning_db/log_store.h"
#include "tuning_db/record_span.h"
#include "tuning_db/sqlite/connection.h"

namespace hone::tuning_db::sqlite {

// Immutable.
struct FoundFilter {
  RecordFilter said;  // the filter as it was given
  std::optional<int64_t> signature;
  // nullopt: any.
  std::optional<std::vector<int64_t>> tasks;
  std::optional<std::vector<int64_t>> devices;
  std::vector<IdRange> ranges;  // contain the ids of all records that match; ascending
};

// nullopt if no record can match.
absl::StatusOr<std::optional<FoundFilter>> Find(Connection& db, const RecordFilter& filter);
// The ids of the tasks that meet all conditions of the filter on tasks.
absl::StatusOr<std::vector<int64_t>> FindTasks(Connection& db, const RecordFilter& filter);

// The filter's conditions on rows of `records`, each as " AND ...", and their parameters. Leaves
// out those on the column `known`, and the ranges, which the caller adds.
std::string ConditionsOf(const FoundFilter& filter, std::string_view known);
void BindConditions(const FoundFilter& filter, std::string_view known, Statement& query);

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_RECORD_FILTER_H_
