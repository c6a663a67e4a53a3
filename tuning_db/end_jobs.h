// Ends jobs in the store itself, while no daemon works on it.
#ifndef HONE_TUNING_DB_END_JOBS_H_
#define HONE_TUNING_DB_END_JOBS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "support/clock.h"
#include "tuning_db/store.h"

namespace hone::tuning_db {

// The message with which a private job is cancelled after its client has ended (decision 0014).
inline constexpr char kClientHasEnded[] = "its hone tune has ended";

// Cancels the job and settles its open trials as cancelled, except for those of tasks that another
// unfinished job wants, and those that a worker's result settles meanwhile. May be repeated. Errors
// are those of SetJobState.
absl::Status EndJob(Store& store, int64_t job, const std::string& message,
                    const Clock& clock = Clock::Real());

// Ends all private jobs that have not ended. Returns how many there were.
absl::StatusOr<int> EndPrivateJobs(Store& store, const Clock& clock = Clock::Real());

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_END_JOBS_H_
