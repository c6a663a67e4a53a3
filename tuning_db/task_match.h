// Which tasks a filter of the log means: by the texts of their workloads and targets.
#ifndef HONE_TUNING_DB_TASK_MATCH_H_
#define HONE_TUNING_DB_TASK_MATCH_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tuning_db/log_store.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

// The shape as a workload's text has it, "(1, 64, 56, 56)", of "1x64x56x56", "1,64,56,56" or
// that text itself. kInvalidArgument for anything else.
absl::StatusOr<std::string> ShapeText(std::string_view shape);

// Whether the filter says anything of tasks.
bool IsOfTasks(const RecordFilter& filter);
// Whether all that it says holds for the task. The filter is well-formed.
bool HoldsFor(const RecordFilter& filter, const Task& task);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_TASK_MATCH_H_
