// Matches tasks with a filter of the log, by the texts of their workloads and targets.
#ifndef HONE_TUNING_DB_TASK_MATCH_H_
#define HONE_TUNING_DB_TASK_MATCH_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tuning_db/log_store.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

// Turns "1x64x56x56", "1,64,56,56" or "(1, 64, 56, 56)" into the last form, which workloads have.
// kInvalidArgument for any other text.
absl::StatusOr<std::string> ShapeText(std::string_view shape);

// Whether the filter has any condition on tasks.
bool IsOfTasks(const RecordFilter& filter);
// Whether the task meets all conditions of the filter on tasks. The filter must be well formed.
bool HoldsFor(const RecordFilter& filter, const Task& task);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_TASK_MATCH_H_
