// Limits what the open jobs of one submitter may take together.
#ifndef HONE_TUNER_SERVICE_JOB_QUOTA_H_
#define HONE_TUNER_SERVICE_JOB_QUOTA_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tuner/job_limits.h"
#include "tuning_db/store.h"

namespace hone::tuner {

// What one job takes.
struct JobSize {
  int64_t tasks = 0;
  int64_t bytes = 0;  // of its workloads' texts
};

// The size of a job whose tasks are stored.
absl::StatusOr<JobSize> SizeOf(tuning_db::Store& store, const tuning_db::Job& job);

// Checks whether `submitter` may have one more job of this size besides those that have not ended.
// kResourceExhausted says what there would be too much of.
absl::Status CheckQuota(tuning_db::Store& store, const Quota& quota, const std::string& submitter,
                        const JobSize& size);

}  // namespace hone::tuner

#endif  // HONE_TUNER_SERVICE_JOB_QUOTA_H_
