// One line of the log, as JSON.
#ifndef HONE_TUNING_DB_LOG_LINE_H_
#define HONE_TUNING_DB_LOG_LINE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

// A record (with its trial in of_trial) or a final, and the task it belongs to. Ids of tasks,
// trials and jobs are left out, since they mean nothing outside their database.
struct LogLine {
  Task task;
  bool is_final = false;
  Record record;  // unless is_final
  Final final;    // if is_final
};

// The line without a newline.
std::string ToJson(const LogLine& line);
// kInvalidArgument says which field is missing or wrong.
absl::StatusOr<LogLine> ParseLogLine(std::string_view text);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_LOG_LINE_H_
