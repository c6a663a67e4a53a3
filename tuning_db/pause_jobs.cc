#include "tuning_db/pause_jobs.h"

#include "support/status.h"

namespace hone::tuning_db {

absl::StatusOr<bool> PauseJob(JobStore& store, const Ownership& ownership, int64_t job) {
  HONE_ASSIGN_OR_RETURN(const Job row, store.GetJob(job));
  if (row.state == JobState::kPaused) return false;
  HONE_RETURN_IF_ERROR(store.SetJobState(ownership, job, JobState::kPaused, "paused"));
  return true;
}

absl::StatusOr<bool> ResumeJob(JobStore& store, const Ownership& ownership, int64_t job) {
  HONE_ASSIGN_OR_RETURN(const Job row, store.GetJob(job));
  if (!HasEnded(row.state) && row.state != JobState::kPaused) return false;
  HONE_RETURN_IF_ERROR(store.SetJobState(ownership, job, JobState::kQueued, "resumed"));
  return true;
}

}  // namespace hone::tuning_db
