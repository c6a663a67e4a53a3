// Pauses jobs and resumes them.
#ifndef HONE_TUNING_DB_PAUSE_JOBS_H_
#define HONE_TUNING_DB_PAUSE_JOBS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tuning_db/job_store.h"

namespace hone::tuning_db {

// Returns whether it changed the job; one that is already paused stays as it is.
// kFailedPrecondition if the job has ended; other errors are those of SetJobState.
absl::StatusOr<bool> PauseJob(JobStore& store, const Ownership& ownership, int64_t job);
// Queues a paused job again. Returns whether it changed the job; one that is not paused stays as it
// is. Errors are as above.
absl::StatusOr<bool> ResumeJob(JobStore& store, const Ownership& ownership, int64_t job);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_PAUSE_JOBS_H_
