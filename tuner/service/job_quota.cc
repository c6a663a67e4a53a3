#include "tuner/service/job_quota.h"

#include <fmt/format.h>

#include <vector>

#include "support/status.h"

namespace hone::tuner {
namespace {

using tuning_db::JobState;

bool Exceeds(int64_t found, int64_t most) { return most > 0 && found > most; }

}  // namespace

absl::StatusOr<JobSize> SizeOf(tuning_db::Store& store, const tuning_db::Job& job) {
  JobSize size;
  size.tasks = static_cast<int64_t>(job.tasks.size());
  for (const tuning_db::JobTask& of_job : job.tasks) {
    HONE_ASSIGN_OR_RETURN(const tuning_db::Task task, store.GetTask(of_job.task));
    size.bytes += static_cast<int64_t>(task.workload.size());
  }
  return size;
}

absl::Status CheckQuota(tuning_db::Store& store, const Quota& quota, const std::string& submitter,
                        const JobSize& size) {
  HONE_ASSIGN_OR_RETURN(
      const std::vector<tuning_db::Job> open,
      store.Jobs({.states = {JobState::kQueued, JobState::kRunning, JobState::kPaused},
                  .submitter = submitter}));
  const auto jobs = static_cast<int64_t>(open.size());
  if (Exceeds(jobs + 1, quota.most_jobs)) {
    return absl::ResourceExhaustedError(fmt::format(
        "{} has {} jobs that have not ended, and may have {}; wait for one, or cancel one",
        submitter, jobs, quota.most_jobs));
  }
  int64_t tasks = size.tasks;
  for (const tuning_db::Job& each : open) tasks += static_cast<int64_t>(each.tasks.size());
  if (Exceeds(tasks, quota.most_tasks)) {
    return absl::ResourceExhaustedError(fmt::format(
        "{}'s jobs that have not ended would have {} kernels, and may have {}; wait for one, or "
        "cancel one",
        submitter, tasks, quota.most_tasks));
  }
  if (quota.most_bytes == 0) return absl::OkStatus();
  int64_t bytes = size.bytes;
  for (const tuning_db::Job& each : open) {
    HONE_ASSIGN_OR_RETURN(const JobSize of_each, SizeOf(store, each));
    bytes += of_each.bytes;
  }
  if (!Exceeds(bytes, quota.most_bytes)) return absl::OkStatus();
  return absl::ResourceExhaustedError(fmt::format(
      "the workloads of {}'s jobs that have not ended would have {} bytes, and may have {}; wait "
      "for one, or cancel one",
      submitter, bytes, quota.most_bytes));
}

}  // namespace hone::tuner
