// Tasks and trials of the store in memory.
#include <algorithm>
#include <utility>

#include "support/status.h"
#include "tuning_db/memory/memory_store.h"
#include "tuning_db/well_formed.h"

namespace hone::tuning_db {

absl::StatusOr<int64_t> MemoryStore::EnsureTask(const Task& task) {
  HONE_RETURN_IF_ERROR(IsWellFormed(task));
  const std::lock_guard lock(mutex_);
  const auto [it, is_new] = task_ids_.try_emplace({task.workload_digest, task.target}, 0);
  if (is_new) {
    it->second = static_cast<int64_t>(tasks_.size()) + 1;
    tasks_.push_back(task);
    tasks_.back().id = it->second;
  }
  return it->second;
}

absl::StatusOr<Task> MemoryStore::GetTask(int64_t id) {
  const std::lock_guard lock(mutex_);
  const Task* task = Find(tasks_, id);
  if (task == nullptr) return NoSuch("task", id);
  return *task;
}

absl::StatusOr<std::optional<Task>> MemoryStore::FindTask(const std::string& workload_digest,
                                                          const std::string& target) {
  const std::lock_guard lock(mutex_);
  const auto it = task_ids_.find({workload_digest, target});
  if (it == task_ids_.end()) return std::optional<Task>();
  return std::optional<Task>(*Find(tasks_, it->second));
}

absl::StatusOr<std::vector<Task>> MemoryStore::TasksOfWorkload(const std::string& workload_digest) {
  const std::lock_guard lock(mutex_);
  std::vector<Task> found;
  std::copy_if(tasks_.begin(), tasks_.end(), std::back_inserter(found),
               [&](const Task& task) { return task.workload_digest == workload_digest; });
  return found;
}

absl::StatusOr<std::vector<Trial>> MemoryStore::Propose(const Ownership& ownership,
                                                        const std::vector<Trial>& trials) {
  const std::lock_guard lock(mutex_);
  for (const Trial& trial : trials) {
    HONE_RETURN_IF_ERROR(IsWellFormed(trial));
    HONE_RETURN_IF_ERROR(RequireOwners(trial.task, trial.job));
    HONE_RETURN_IF_ERROR(MayWriteJob(trial.job, ownership, JobWrite::kProposal));
  }
  std::vector<Trial> rows;
  for (const Trial& trial : trials) rows.push_back(*Find(trials_, EnsureTrial(trial)));
  return rows;
}

absl::Status MemoryStore::ProposeThen(
    const Ownership& ownership, const std::vector<Trial>& trials,
    std::function<void(absl::StatusOr<std::vector<Trial>>)> done) {
  done(Propose(ownership, trials));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SettleResult>> MemoryStore::ImportMany(
    const std::vector<Measured>& entries) {
  const std::lock_guard lock(mutex_);
  for (const auto& [trial, record] : entries) {
    HONE_RETURN_IF_ERROR(IsWellFormed(trial));
    HONE_RETURN_IF_ERROR(IsWellFormed(record));
    if (trial_ids_.contains(KeyOf(trial))) continue;
    HONE_RETURN_IF_ERROR(RequireOwners(trial.task, trial.job));
  }
  std::vector<SettleResult> results;
  for (const auto& [trial, record] : entries) results.push_back(ImportOne(trial, record));
  return results;
}

SettleResult MemoryStore::ImportOne(const Trial& trial, const Record& record) {
  if (trial_ids_.contains(KeyOf(trial))) return SettleResult::kDuplicate;
  Trial& row = *Find(trials_, EnsureTrial(trial));
  LeaseAs({.worker = kImporter}, ++last_fence_, row);
  SettleWith(row, record);
  return SettleResult::kSettled;
}

absl::StatusOr<std::vector<Trial>> MemoryStore::OpenTrials(int64_t job) {
  const std::lock_guard lock(mutex_);
  std::vector<Trial> open;
  for (const Trial& trial : trials_) {
    const bool is_wanted = job == 0 || trial.job == job;
    if (is_wanted && trial.state != TrialState::kSettled) open.push_back(trial);
  }
  return open;
}

absl::StatusOr<int64_t> MemoryStore::CountTrials(int64_t task, const std::string& signature,
                                                 Purpose purpose) {
  const std::lock_guard lock(mutex_);
  return std::count_if(trials_.begin(), trials_.end(), [&](const Trial& trial) {
    return trial.task == task && trial.signature == signature && trial.purpose == purpose;
  });
}

absl::Status MemoryStore::LeaseMany(std::vector<LeaseRequest> requests,
                                    std::function<void(LeaseAnswers)> done) {
  LeaseAnswers answers;
  {
    const std::lock_guard lock(mutex_);
    for (const LeaseRequest& request : requests) answers.push_back(LeaseOne(request));
  }
  done(std::move(answers));
  return absl::OkStatus();
}

absl::Status MemoryStore::ReleaseMany(std::vector<ReleaseRequest> requests,
                                      std::function<void(ReleaseAnswers)> done) {
  ReleaseAnswers answers;
  {
    const std::lock_guard lock(mutex_);
    for (const ReleaseRequest& request : requests) answers.push_back(ReleaseOne(request));
  }
  done(std::move(answers));
  return absl::OkStatus();
}

absl::Status MemoryStore::SettleMany(std::vector<Settlement> settlements,
                                     std::function<void(SettleAnswers)> done) {
  SettleAnswers answers;
  {
    const std::lock_guard lock(mutex_);
    for (const Settlement& settlement : settlements) answers.push_back(SettleOne(settlement));
  }
  done(std::move(answers));
  return absl::OkStatus();
}

absl::Status MemoryStore::GetMany(std::vector<int64_t> trials,
                                  std::function<void(GetAnswers)> done) {
  GetAnswers answers;
  {
    const std::lock_guard lock(mutex_);
    for (const int64_t id : trials) {
      const Trial* const trial = Find(trials_, id);
      answers.push_back(trial == nullptr ? NoSuch("trial", id) : absl::StatusOr<Trial>(*trial));
    }
  }
  done(std::move(answers));
  return absl::OkStatus();
}

absl::StatusOr<Trial> MemoryStore::LeaseOne(const LeaseRequest& request) {
  HONE_RETURN_IF_ERROR(IsWellFormed(request));
  Trial* trial = Find(trials_, request.trial);
  if (trial == nullptr) return NoSuch("trial", request.trial);
  HONE_RETURN_IF_ERROR(MayWriteJob(trial->job, request.ownership, JobWrite::kLease));
  HONE_RETURN_IF_ERROR(MayLease(*trial));
  LeaseAs(request, ++last_fence_, *trial);
  return *trial;
}

absl::StatusOr<Trial> MemoryStore::ReleaseOne(const ReleaseRequest& request) {
  Trial* trial = Find(trials_, request.trial);
  if (trial == nullptr) return NoSuch("trial", request.trial);
  HONE_RETURN_IF_ERROR(MayWriteJob(trial->job, request.ownership, JobWrite::kLease));
  HONE_RETURN_IF_ERROR(MayRelease(*trial, request.fence));
  ReleaseAs(request, *trial);
  return *trial;
}

absl::StatusOr<SettleResult> MemoryStore::SettleOne(const Settlement& settlement) {
  const std::optional<Final>& final = settlement.final;
  HONE_RETURN_IF_ERROR(IsWellFormed(settlement.record));
  Trial* trial = Find(trials_, settlement.record.trial);
  if (trial == nullptr) return NoSuch("trial", settlement.record.trial);
  if (final) {
    HONE_RETURN_IF_ERROR(IsWellFormed(*final));
    HONE_RETURN_IF_ERROR(IsFinalOf(*final, *trial, settlement.record));
    HONE_RETURN_IF_ERROR(RequireOwners(final->task, final->job));
  }
  const SettleResult result = JudgeSettle(*trial, settlement.fence);
  if (result != SettleResult::kSettled) return result;
  SettleWith(*trial, settlement.record);
  if (final) PushFinal(WonIn(*final, static_cast<int64_t>(records_.size())));
  return result;
}

absl::Status MemoryStore::SetDeviceRest(const DeviceRest& rest) {
  HONE_RETURN_IF_ERROR(IsWellFormed(rest));
  const std::lock_guard lock(mutex_);
  const std::pair key(rest.worker, rest.device);
  if (rest.losses == 0 && rest.rests == 0) {
    rests_.erase(key);
  } else {
    rests_[key] = {rest, clock_.WallTimeNs() + rest.rest_ns};
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DeviceRest>> MemoryStore::ListDeviceRests() {
  const std::lock_guard lock(mutex_);
  std::vector<DeviceRest> rests;
  for (const auto& [key, known] : rests_) {
    rests.push_back(known.rest);
    rests.back().rest_ns = std::max<int64_t>(0, known.until_ns - clock_.WallTimeNs());
  }
  return rests;
}

absl::Status MemoryStore::RequireOwners(int64_t task, int64_t job) {
  if (Find(tasks_, task) == nullptr) return NoSuch("task", task);
  if (job != 0 && Find(jobs_, job) == nullptr) return NoSuch("job", job);
  return absl::OkStatus();
}

int64_t MemoryStore::EnsureTrial(const Trial& trial) {
  const auto [it, is_new] = trial_ids_.try_emplace(KeyOf(trial), 0);
  if (!is_new) return it->second;
  it->second = static_cast<int64_t>(trials_.size()) + 1;
  trials_.push_back(Proposed(trial));
  trials_.back().id = it->second;
  return it->second;
}

void MemoryStore::SettleWith(Trial& trial, const Record& record) {
  SettleAs(trial);
  records_.push_back(record);
  records_.back().id = static_cast<int64_t>(records_.size());
  records_.back().trial = trial.id;
  records_.back().retracted.clear();
  TellJobs(trial.task, trial.signature, trial.job, kTrialSettled, SettledPayload(trial, record),
           record.wall_time_ns);
}

}  // namespace hone::tuning_db
