// How far tasks have come, kept by the transactions that settle.
#ifndef HONE_TUNING_DB_SQLITE_PROGRESS_ROWS_H_
#define HONE_TUNING_DB_SQLITE_PROGRESS_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuning_db/progress.h"
#include "tuning_db/sqlite/connection.h"
#include "tuning_db/types.h"

namespace hone::tuning_db::sqlite {

// What the settled trial adds.
absl::Status AddProgress(Connection& db, const Trial& trial, const Record& record);
// Counts that of all tasks, where none is kept yet.
absl::Status CountAllProgress(Connection& db);
// Anew from the records, where one of them was retracted; `signature` is a text's id.
absl::Status RecountProgress(Connection& db, int64_t task, int64_t signature);
absl::StatusOr<std::vector<std::vector<TaskProgress>>> ReadProgress(
    Connection& db, const std::vector<int64_t>& jobs);
// What ReadProgress says of the job now is what it says from now on: other jobs may go on with its
// tasks when it has ended.
absl::Status KeepProgress(Connection& db, int64_t job);
// Tasks and jobs whose progress is not what their records give, in sentences.
absl::StatusOr<std::vector<std::string>> CheckProgress(Connection& db);
// Jobs that have not ended and want the task, and `job` where it has not ended (0: none), by id.
absl::StatusOr<std::vector<int64_t>> JobsToTell(Connection& db, int64_t task,
                                                const std::string& signature, int64_t job);

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_PROGRESS_ROWS_H_
