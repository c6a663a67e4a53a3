#include "tuning_db/end_jobs.h"

#include <set>
#include <utility>

#include "support/status.h"
#include "tuning_db/settle_here.h"

namespace hone::tuning_db {
namespace {

// Tasks and signatures.
using Wanted = std::set<std::pair<int64_t, std::string>>;

absl::StatusOr<Wanted> WantedByUnfinishedJobs(Store& store) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Job> jobs, store.Jobs());
  Wanted wanted;
  for (const Job& job : jobs) {
    if (HasEnded(job.state)) continue;
    for (const JobTask& task : job.tasks) wanted.emplace(task.task, task.signature);
  }
  return wanted;
}

absl::Status SettleAsCancelled(Store& store, int64_t trial, const std::string& message,
                               const Clock& clock) {
  Record record;
  record.trial = trial;
  record.outcome = Outcome::kCancelled;
  record.message = message;
  record.wall_time_ns = clock.WallTimeNs();
  return SettleHere(store, Ownership(), record).status();
}

}  // namespace

absl::Status EndJob(Store& store, int64_t job, const std::string& message, const Clock& clock) {
  HONE_RETURN_IF_ERROR(store.SetJobState(job, JobState::kCancelled, message));
  HONE_ASSIGN_OR_RETURN(const Wanted wanted, WantedByUnfinishedJobs(store));
  HONE_ASSIGN_OR_RETURN(const std::vector<Trial> open, store.OpenTrials(job));
  for (const Trial& trial : open) {
    if (wanted.contains({trial.task, trial.signature})) continue;
    HONE_RETURN_IF_ERROR(SettleAsCancelled(store, trial.id, message, clock));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> EndPrivateJobs(Store& store, const Clock& clock) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Job> jobs, store.Jobs());
  int ended = 0;
  for (const Job& job : jobs) {
    if (!job.is_private || HasEnded(job.state)) continue;
    HONE_RETURN_IF_ERROR(EndJob(store, job.id, kClientHasEnded, clock));
    ++ended;
  }
  return ended;
}

}  // namespace hone::tuning_db
