#include "tuner/job_reporter.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/status.h"
#include "tuning_db/resolve.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

v1::JobState StateToProto(tuning_db::JobState state) {
  switch (state) {
    case tuning_db::JobState::kQueued:
      return v1::JOB_STATE_QUEUED;
    case tuning_db::JobState::kRunning:
      return v1::JOB_STATE_RUNNING;
    case tuning_db::JobState::kDone:
      return v1::JOB_STATE_DONE;
    case tuning_db::JobState::kFailed:
      return v1::JOB_STATE_FAILED;
    case tuning_db::JobState::kCancelled:
      return v1::JOB_STATE_CANCELLED;
    case tuning_db::JobState::kPaused:
      return v1::JOB_STATE_PAUSED;
  }
  return v1::JOB_STATE_UNSPECIFIED;
}

constexpr char kNothingToWin[] = "nothing to win";
constexpr char kSpaceUsedUp[] = "space used up";

// The task has a final.
std::string WhyEnded(const tuning_db::Job& job, const tuning_db::JobTask& task,
                     const tuning_db::FinalFigures& final, int64_t trials) {
  if (final.distinct_trials < trials) return "";  // it was tuned further since
  if (trials >= task.trials) return "budget";
  if (final.space_size <= trials) return kSpaceUsedUp;
  return job.ends_early && final.ended_share > 0 ? kNothingToWin : "";
}

}  // namespace

absl::StatusOr<v1::JobInfo> JobReporter::Report(int64_t id, Spec detail) {
  HONE_ASSIGN_OR_RETURN(const tuning_db::Job job, store_->GetJob(id));
  return Report(job, detail);
}

absl::StatusOr<v1::JobInfo> JobReporter::Report(const tuning_db::Job& job, Spec detail) {
  HONE_ASSIGN_OR_RETURN(const auto progress, store_->Progress(job.id));
  v1::JobInfo info = InfoOf(job, progress);
  if (detail == Spec::kWithoutTasks) return info;
  HONE_ASSIGN_OR_RETURN(const std::vector<tuning_db::Task> rows, store_->TasksOfJob(job.id));
  for (size_t i = 0; i < job.tasks.size(); ++i) {
    const tuning_db::JobTask& task = job.tasks[i];
    v1::TaskSpec& of_task = *info.mutable_spec()->add_tasks();
    of_task.set_workload(rows.at(i).workload);
    of_task.set_signature(task.signature);
    of_task.set_name(task.name);
    of_task.set_weight(task.weight);
  }
  return info;
}

absl::StatusOr<std::vector<v1::JobInfo>> JobReporter::Report(
    const std::vector<tuning_db::Job>& jobs) {
  std::vector<int64_t> ids;
  for (const tuning_db::Job& job : jobs) ids.push_back(job.id);
  HONE_ASSIGN_OR_RETURN(const auto progress, store_->ProgressOfJobs(ids));
  std::vector<v1::JobInfo> infos;
  for (size_t i = 0; i < jobs.size(); ++i) infos.push_back(InfoOf(jobs[i], progress.at(i)));
  return infos;
}

v1::JobInfo JobReporter::InfoOf(const tuning_db::Job& job,
                                const std::vector<tuning_db::TaskProgress>& progress) {
  v1::JobInfo info;
  info.set_id(job.id);
  info.set_client_id(job.client_id);
  info.set_state(StateToProto(job.state));
  info.set_message(job.message);
  info.set_submitter(job.submitter);
  info.set_submitted_at_ns(job.submitted_at_ns);
  info.set_owner(job.owner);
  info.set_epoch(job.epoch);
  info.set_is_private(job.is_private);
  v1::JobSpec& spec = *info.mutable_spec();
  spec.set_model(job.model);
  spec.set_target(job.target);
  spec.set_limit_ns(job.deadline_ns);
  spec.set_seed(job.seed);
  spec.set_search(job.search);
  spec.set_priority(job.priority);
  spec.set_constant_bytes(static_cast<uint64_t>(job.constant_bytes));
  spec.set_ends_early(job.ends_early);
  spec.set_elsewhere_ns(job.elsewhere_ns);
  spec.set_sandbox(static_cast<v1::SandboxLevel>(job.sandbox));
  spec.set_device_class(job.device_class);
  for (size_t i = 0; i < job.tasks.size(); ++i) {
    spec.set_trials(std::max(spec.trials(), job.tasks[i].trials));
    *info.add_tasks() = ProgressOf(job, job.tasks[i], progress.at(i));
  }
  return info;
}

absl::StatusOr<tuning_db::JobState> JobReporter::FromProto(v1::JobState state) {
  using tuning_db::JobState;
  for (const JobState known : {JobState::kQueued, JobState::kRunning, JobState::kDone,
                               JobState::kFailed, JobState::kCancelled, JobState::kPaused}) {
    if (StateToProto(known) == state) return known;
  }
  return absl::InvalidArgumentError(
      fmt::format("expected a state of jobs, found {}", static_cast<int>(state)));
}

void JobReporter::SetWaiting(int64_t task, const std::string& signature, const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (what.empty()) {
    waiting_.erase({task, signature});
  } else {
    waiting_[{task, signature}] = what;
  }
}

v1::TaskProgress JobReporter::ProgressOf(const tuning_db::Job& job, const tuning_db::JobTask& task,
                                         const tuning_db::TaskProgress& stored) {
  v1::TaskProgress progress;
  progress.set_workload_digest(stored.workload_digest);
  progress.set_signature(task.signature);
  progress.set_name(task.name);
  progress.set_weight(task.weight);
  progress.set_budget(task.trials);
  progress.set_total_trials(stored.trials);
  progress.set_trials(stored.job_trials);
  progress.set_failures(stored.job_failures);
  progress.set_default_ns(stored.default_ns);
  progress.set_best_ns(stored.best_ns);
  progress.set_tier(stored.best_ns > 0 ? "tuning" : "default");
  if (!tuning_db::HasEnded(job.state)) {
    const std::lock_guard lock(mutex_);
    const auto waiting = waiting_.find({task.task, task.signature});
    if (waiting != waiting_.end()) progress.set_waiting(waiting->second);
  }
  const std::optional<tuning_db::FinalFigures>& final = stored.final;
  if (!final) return progress;
  progress.set_default_ns(final->default_ns);
  progress.set_best_ns(final->winner_ns);
  progress.set_ended(WhyEnded(job, task, *final, stored.trials));
  // A search that has ended otherwise asks for no more than it had; so does a space that is smaller
  // than the budget.
  const bool is_short = progress.ended() == kNothingToWin || progress.ended() == kSpaceUsedUp;
  const int64_t most = is_short ? stored.trials : std::max(final->space_size, stored.trials);
  progress.set_budget(std::min(task.trials, most));
  progress.set_tier(tuning_db::IsTuned(*final) ? "tuned" : "tuning");
  return progress;
}

}  // namespace hone::tuner
