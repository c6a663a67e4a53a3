// The progress of a job's tasks as a text, which stores keep for jobs that have ended.
#ifndef HONE_TUNING_DB_PROGRESS_TEXT_H_
#define HONE_TUNING_DB_PROGRESS_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tuning_db/progress.h"

namespace hone::tuning_db {

// Keeps every bit of every number.
std::string ToText(const std::vector<TaskProgress>& progress);
// kInvalidArgument if ToText did not write the text.
absl::StatusOr<std::vector<TaskProgress>> ProgressFromText(std::string_view text);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_PROGRESS_TEXT_H_
