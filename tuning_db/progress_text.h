// How far a job's tasks had come, as a text that a store keeps.
#ifndef HONE_TUNING_DB_PROGRESS_TEXT_H_
#define HONE_TUNING_DB_PROGRESS_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tuning_db/progress.h"

namespace hone::tuning_db {

// Every figure to its last bit.
std::string ToText(const std::vector<TaskProgress>& progress);
// kInvalidArgument for what ToText did not write.
absl::StatusOr<std::vector<TaskProgress>> ProgressFromText(std::string_view text);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_PROGRESS_TEXT_H_
