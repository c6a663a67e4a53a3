// Jobs of the store in memory.
#include <algorithm>
#include <utility>

#include "support/status.h"
#include "tuning_db/cursor.h"
#include "tuning_db/memory/memory_store.h"
#include "tuning_db/well_formed.h"

namespace hone::tuning_db {

absl::StatusOr<Ownership> MemoryStore::BeginEpoch(const std::string& owner, int64_t lease_ns) {
  HONE_RETURN_IF_ERROR(MayBegin(owner));
  const std::lock_guard lock(mutex_);
  std::erase_if(lives_, [&](const auto& life) { return life.second.owner == owner; });
  const Ownership ownership{owner, ++last_epoch_};
  lives_[ownership.epoch] = {owner, clock_.WallTimeNs() + lease_ns};
  return ownership;
}

absl::StatusOr<std::vector<Job>> MemoryStore::TakeJobs(const Ownership& ownership,
                                                       int64_t lease_ns) {
  const std::lock_guard lock(mutex_);
  const bool may_take = MayTake(LeftNs(ownership.epoch), lease_ns);
  HONE_RETURN_IF_ERROR(Renew(ownership, lease_ns));
  std::vector<Job> taken;
  if (!may_take) return taken;
  for (Job& job : jobs_) {
    if (HasEnded(job.state) || job.epoch == ownership.epoch || LeftNs(job.epoch) >= 0) continue;
    job.owner = ownership.owner;
    job.epoch = ownership.epoch;
    taken.push_back(job);
  }
  return taken;
}

absl::StatusOr<std::vector<int64_t>> MemoryStore::RenewJobs(const Ownership& ownership,
                                                            int64_t lease_ns) {
  const std::lock_guard lock(mutex_);
  HONE_RETURN_IF_ERROR(Renew(ownership, lease_ns));
  std::vector<int64_t> held;
  for (const Job& job : jobs_) {
    if (!HasEnded(job.state) && job.epoch == ownership.epoch) held.push_back(job.id);
  }
  return held;
}

absl::Status MemoryStore::Renew(const Ownership& ownership, int64_t lease_ns) {
  const auto life = lives_.find(ownership.epoch);
  if (life == lives_.end()) return NewerLife(ownership);
  life->second.until_ns = clock_.WallTimeNs() + lease_ns;
  return absl::OkStatus();
}

int64_t MemoryStore::LeftNs(int64_t epoch) const {
  const auto life = lives_.find(epoch);
  return life != lives_.end() ? life->second.until_ns - clock_.WallTimeNs() : -1;
}

absl::Status MemoryStore::MayWriteJob(int64_t id, const Ownership& ownership, JobWrite what) {
  if (id == 0) return absl::OkStatus();
  const Job* job = Find(jobs_, id);
  if (job == nullptr) return NoSuch("job", id);
  return MayWrite(id, job->state, {job->owner, job->epoch}, ownership, what);
}

absl::StatusOr<Job> MemoryStore::SubmitJob(const Job& job) {
  HONE_RETURN_IF_ERROR(IsWellFormed(job));
  const std::lock_guard lock(mutex_);
  for (const Job& known : jobs_) {
    if (known.client_id != job.client_id) continue;
    HONE_RETURN_IF_ERROR(IsSameRequest(known, job));
    return known;
  }
  for (const JobTask& task : job.tasks) {
    if (Find(tasks_, task.task) == nullptr) return NoSuch("task", task.task);
  }
  Job row = job;
  row.id = static_cast<int64_t>(jobs_.size()) + 1;
  row.state = JobState::kQueued;
  row.ran_ns = 0;
  row.submitted_at_ns = clock_.WallTimeNs();
  jobs_.push_back(row);
  subscribers_.Tell({row.id});
  return row;
}

absl::StatusOr<std::optional<Job>> MemoryStore::JobOfClient(const std::string& client_id) {
  const std::lock_guard lock(mutex_);
  for (const Job& known : jobs_) {
    if (known.client_id == client_id) return std::optional(known);
  }
  return std::optional<Job>();
}

absl::StatusOr<Job> MemoryStore::GetJob(int64_t id) {
  const std::lock_guard lock(mutex_);
  const Job* job = Find(jobs_, id);
  if (job == nullptr) return NoSuch("job", id);
  return *job;
}

absl::StatusOr<JobPage> MemoryStore::ListJobs(const JobFilter& filter, Order order,
                                              const std::string& cursor, int64_t limit) {
  HONE_RETURN_IF_ERROR(IsWellFormed(filter));
  HONE_ASSIGN_OR_RETURN(const int64_t after, FromCursor(order, cursor));
  const std::lock_guard lock(mutex_);
  JobPage page{.jobs = {}, .next = cursor, .is_last = true};
  const auto visit = [&](const Job& job) {
    const bool is_after = order == Order::kOldestFirst ? job.id > after : job.id < after;
    if (!page.is_last || !is_after || !tuning_db::Matches(job, filter)) return;
    if (limit > 0 && static_cast<int64_t>(page.jobs.size()) == limit) {
      page.is_last = false;
      return;
    }
    page.jobs.push_back(job);
    page.next = ToCursor(order, job.id);
  };
  if (order == Order::kNewestFirst) {
    std::for_each(jobs_.rbegin(), jobs_.rend(), visit);
  } else {
    std::for_each(jobs_.begin(), jobs_.end(), visit);
  }
  return page;
}

absl::StatusOr<std::vector<Task>> MemoryStore::TasksOfJob(int64_t id) {
  const std::lock_guard lock(mutex_);
  const Job* job = Find(jobs_, id);
  if (job == nullptr) return NoSuch("job", id);
  std::vector<Task> tasks;
  for (const JobTask& wanted : job->tasks) tasks.push_back(*Find(tasks_, wanted.task));
  return tasks;
}

std::unique_ptr<Subscription> MemoryStore::Subscribe(
    std::function<void(const Change& change)> on_change) {
  return subscribers_.Add(std::move(on_change));
}

absl::Status MemoryStore::SetJobState(const Ownership& ownership, int64_t id, JobState state,
                                      const std::string& message) {
  const std::lock_guard lock(mutex_);
  Job* job = Find(jobs_, id);
  if (job == nullptr) return NoSuch("job", id);
  HONE_RETURN_IF_ERROR(MayWriteJob(id, ownership));
  HONE_RETURN_IF_ERROR(MaySetState(*job, state));
  if (HasEnded(job->state)) return absl::OkStatus();
  job->state = state;
  job->message = message;
  if (HasEnded(state)) {
    std::vector<TaskProgress>& kept = ended_[id];
    for (const JobTask& wanted : job->tasks) kept.push_back(ProgressOf(wanted, id));
  }
  AddEvent(id, "state", StatePayload(state, message));
  return absl::OkStatus();
}

absl::Status MemoryStore::SetJobRan(const Ownership& ownership, int64_t id, int64_t ran_ns) {
  const std::lock_guard lock(mutex_);
  Job* job = Find(jobs_, id);
  if (job == nullptr) return NoSuch("job", id);
  HONE_RETURN_IF_ERROR(MayWriteJob(id, ownership));
  HONE_RETURN_IF_ERROR(MaySetRan(*job));
  job->ran_ns = ran_ns;
  return absl::OkStatus();
}

absl::StatusOr<int64_t> MemoryStore::AppendEvent(const Ownership& ownership, int64_t job,
                                                 const std::string& kind,
                                                 const std::string& payload) {
  HONE_RETURN_IF_ERROR(IsText("an event's kind", kind));
  HONE_RETURN_IF_ERROR(IsText("an event's payload", payload));
  const std::lock_guard lock(mutex_);
  if (Find(jobs_, job) == nullptr) return NoSuch("job", job);
  HONE_RETURN_IF_ERROR(MayWriteJob(job, ownership));
  HONE_RETURN_IF_ERROR(MayHappen(*Find(jobs_, job)));
  return AddEvent(job, kind, payload);
}

void MemoryStore::TellJobs(int64_t task, const std::string& signature, int64_t owner,
                           const std::string& kind, const std::string& payload,
                           int64_t wall_time_ns) {
  for (const Job& job : jobs_) {
    const bool wants = std::ranges::any_of(job.tasks, [&](const JobTask& wanted) {
      return wanted.task == task && wanted.signature == signature;
    });
    if (!HasEnded(job.state) && (wants || job.id == owner)) {
      AddEvent(job.id, kind, payload, wall_time_ns);
    }
  }
}

absl::StatusOr<std::vector<std::vector<TaskProgress>>> MemoryStore::ProgressOfJobs(
    const std::vector<int64_t>& jobs) {
  const std::lock_guard lock(mutex_);
  std::vector<std::vector<TaskProgress>> progress;
  for (const int64_t id : jobs) {
    const Job* job = Find(jobs_, id);
    if (job == nullptr) return NoSuch("job", id);
    std::vector<TaskProgress>& of_job = progress.emplace_back();
    if (const auto kept = ended_.find(id); kept != ended_.end()) {
      of_job = kept->second;
      continue;
    }
    for (const JobTask& wanted : job->tasks) of_job.push_back(ProgressOf(wanted, id));
  }
  return progress;
}

TaskProgress MemoryStore::ProgressOf(const JobTask& wanted, int64_t job) {
  TaskProgress progress;
  progress.task = wanted.task;
  progress.signature = wanted.signature;
  progress.workload_digest = Find(tasks_, wanted.task)->workload_digest;
  int64_t first = 0;
  for (const Record& record : records_) {
    const Trial& trial = *Find(trials_, record.trial);
    if (trial.task != wanted.task || trial.signature != wanted.signature) continue;
    if (!record.retracted.empty() || !IsProgress(trial.purpose, record.outcome)) continue;
    const bool is_ok = record.outcome == Outcome::kOk;
    progress.trials += 1;
    progress.job_trials += trial.job == job ? 1 : 0;
    progress.job_failures += trial.job == job && !is_ok ? 1 : 0;
    if (first == 0 || trial.id < first) {
      first = trial.id;
      progress.default_ns = record.median_ns;
    }
    if (is_ok && (progress.best_ns == 0 || record.median_ns < progress.best_ns)) {
      progress.best_ns = record.median_ns;
    }
  }
  for (const Final& final : finals_) {
    if (final.task != wanted.task || final.signature != wanted.signature) continue;
    if (!Counts(final)) continue;
    progress.final = FiguresOf(final);
  }
  return progress;
}

absl::StatusOr<std::vector<Event>> MemoryStore::ListEvents(int64_t job, int64_t after_seq,
                                                           int64_t limit) {
  const std::lock_guard lock(mutex_);
  if (Find(jobs_, job) == nullptr) return NoSuch("job", job);
  std::vector<Event> page;
  for (const Event& event : events_[job]) {
    if (limit > 0 && static_cast<int64_t>(page.size()) == limit) break;
    if (event.seq > after_seq) page.push_back(event);
  }
  return page;
}

int64_t MemoryStore::AddEvent(int64_t job, const std::string& kind, const std::string& payload) {
  return AddEvent(job, kind, payload, clock_.WallTimeNs());
}

int64_t MemoryStore::AddEvent(int64_t job, const std::string& kind, const std::string& payload,
                              int64_t wall_time_ns) {
  std::vector<Event>& events = events_[job];
  const int64_t seq = events.empty() ? 1 : events.back().seq + 1;
  events.push_back({job, seq, kind, payload, wall_time_ns});
  subscribers_.Tell({job});
  return seq;
}

}  // namespace hone::tuning_db
