// A filter of the log, with the ids of rows in place of what it says in words.
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

// A value that never changes.
struct FoundFilter {
  RecordFilter said;
  std::optional<int64_t> signature;
  // Nothing: any.
  std::optional<std::vector<int64_t>> tasks;
  std::optional<std::vector<int64_t>> devices;
  std::vector<IdRange> ranges;  // in which all that match are, in ascending order
};

// Nothing where no record can match.
absl::StatusOr<std::optional<FoundFilter>> Find(Connection& db, const RecordFilter& filter);
// The ids of tasks for which all holds that the filter says of them.
absl::StatusOr<std::vector<int64_t>> FindTasks(Connection& db, const RecordFilter& filter);

// What is asked of rows of `records`: " AND ..." for each condition but those on the column
// `known`, and what they bind. Ranges are left to the caller.
std::string ConditionsOf(const FoundFilter& filter, std::string_view known);
void BindConditions(const FoundFilter& filter, std::string_view known, Statement& query);

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_RECORD_FILTER_H_
