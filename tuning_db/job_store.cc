#include "tuning_db/job_store.h"

#include <utility>

#include "support/status.h"

namespace hone::tuning_db {

absl::StatusOr<std::vector<Job>> JobStore::Jobs(const JobFilter& filter) {
  HONE_ASSIGN_OR_RETURN(JobPage page, ListJobs(filter, Order::kOldestFirst, "", 0));
  return std::move(page.jobs);
}

absl::StatusOr<std::vector<TaskProgress>> JobStore::Progress(int64_t job) {
  HONE_ASSIGN_OR_RETURN(std::vector<std::vector<TaskProgress>> progress, ProgressOfJobs({job}));
  return std::move(progress.at(0));
}

}  // namespace hone::tuning_db
