// The progress of tasks, which the transactions that settle trials keep up to date.
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

// Adds the settled trial to the progress of its task and job.
absl::Status AddProgress(Connection& db, const Trial& trial, const Record& record);
// Counts the progress of all tasks in a database that has none yet.
absl::Status CountAllProgress(Connection& db);
// Counts the progress of a task and signature anew after one of its records was retracted.
// `signature` is the id of a text.
absl::Status RecountProgress(Connection& db, int64_t task, int64_t signature);
absl::StatusOr<std::vector<std::vector<TaskProgress>>> ReadProgress(
    Connection& db, const std::vector<int64_t>& jobs);
// Stores the job's progress as it is now, for ReadProgress to return from now on. Call it when the
// job ends, since other jobs may go on with its tasks.
absl::Status KeepProgress(Connection& db, int64_t job);
// Sentences about tasks and jobs whose progress does not agree with their records.
absl::StatusOr<std::vector<std::string>> CheckProgress(Connection& db);
// The ids of all unfinished jobs that want the task, and of `job` (0: none) if it has not ended,
// sorted.
absl::StatusOr<std::vector<int64_t>> JobsToTell(Connection& db, int64_t task,
                                                const std::string& signature, int64_t job);

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_PROGRESS_ROWS_H_
