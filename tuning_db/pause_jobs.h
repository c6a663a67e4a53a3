// Pauses jobs and resumes them.
#ifndef HONE_TUNING_DB_PAUSE_JOBS_H_
#define HONE_TUNING_DB_PAUSE_JOBS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tuning_db/job_store.h"

namespace hone::tuning_db {

// These two return whether they changed the job: one that is paused already, or that is not, stays
// as it is. kFailedPrecondition where it has ended; other errors are those of SetJobState.
absl::StatusOr<bool> PauseJob(JobStore& store, const Ownership& ownership, int64_t job);
// A job that is resumed is queued again.
absl::StatusOr<bool> ResumeJob(JobStore& store, const Ownership& ownership, int64_t job);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_PAUSE_JOBS_H_
