// Jobs of several daemons on one store: which of them are this one's to run.
//
// A task is tuned by one daemon at a time: that of the job that runs. Others that want it wait, and
// find what was measured once that one has ended or is paused. So the budget of a task is kept by
// one loop, as with one daemon (docs/decisions/0024).
#include <spdlog/spdlog.h>

#include <algorithm>

#include "support/status.h"
#include "tuner/jobs/tuning_loop.h"
#include "tuner/store_error.h"

namespace hone::tuner {

using tuning_db::Job;
using tuning_db::JobState;

namespace {

bool ShareATask(const std::set<TaskKey>& keys, const Job& other) {
  return std::ranges::any_of(
      other.tasks, [&](const tuning_db::JobTask& task) { return keys.contains(KeyOf(task)); });
}

// Whether what both want is the other one's, as they stand.
bool GoesBefore(const Job& other, const Job& job) {
  if (other.state == JobState::kPaused) return false;
  if (other.state == job.state) return other.id < job.id;
  return other.state == JobState::kRunning;
}

}  // namespace

bool TuningLoop::IsOurs(const Job& job) const { return job.epoch == loop_.parts.ownership.epoch; }

bool TuningLoop::MayRun(const Job& job, const std::vector<Job>& open) const {
  if (!IsOurs(job) || job.state == JobState::kPaused) return false;
  const std::set<TaskKey> keys = KeysOf(job);
  return std::ranges::none_of(open, [&](const Job& other) {
    return !IsOurs(other) && GoesBefore(other, job) && ShareATask(keys, other);
  });
}

absl::StatusOr<bool> TuningLoop::Claim(const Job& job) {
  const tuning_db::Ownership& self = loop_.parts.ownership;
  if (job.state == JobState::kQueued) {
    HONE_RETURN_IF_ERROR(loop_.parts.store->SetJobState(self, job.id, JobState::kRunning, ""));
  }
  if (!loop_.HasOthers()) return true;
  // Another daemon may have begun a job at the same moment. Each looks once its own runs, so one of
  // them finds the other's at least.
  HONE_ASSIGN_OR_RETURN(const std::vector<Job> open, OpenJobs());
  const std::set<TaskKey> keys = KeysOf(job);
  const auto running = std::ranges::find_if(open, [&](const Job& other) {
    return !IsOurs(other) && other.state == JobState::kRunning && ShareATask(keys, other);
  });
  if (running == open.end()) return true;
  HONE_RETURN_IF_ERROR(QueueAgain(job.id));
  return false;
}

absl::Status TuningLoop::QueueAgain(int64_t job) {
  spdlog::info("job {} waits: another daemon tunes one of its kernels", job);
  return loop_.parts.store->SetJobState(loop_.parts.ownership, job, JobState::kQueued,
                                        "another daemon tunes one of its kernels");
}

bool TuningLoop::SeeJobs() {
  const auto open = OpenJobs();
  if (!open.ok()) {
    loop_.Failed(open.status(), [this] { SeeOwners(); });
    return false;
  }
  bool changed = LeaveOthersJobs(*open);
  for (const Job& job : *open) {
    if (loop_.stopped || jobs_.contains(job.id) || !MayRun(job, *open)) continue;
    Activate(job.id);
    changed = true;
  }
  if (changed && !loop_.stopped) AdoptOpenTrials();
  return changed;
}

bool TuningLoop::LeaveOthersJobs(const std::vector<Job>& open) {
  std::set<int64_t> ids;
  for (const Job& job : open) ids.insert(job.id);
  const bool have_ended =
      std::erase_if(asleep_, [&](const auto& sleeper) { return !ids.contains(sleeper.first); }) > 0;
  // What is not run here sleeps before anything is retired, so that its trials are left alone.
  std::vector<int64_t> gone;
  for (const Job& job : open) {
    const bool may_run = MayRun(job, open);
    // One that is queued was paused and resumed through another daemon: it begins anew.
    const bool goes_on = may_run && job.state == JobState::kRunning;
    if (jobs_.contains(job.id) && goes_on) continue;
    LetSleep(job);
    if (jobs_.contains(job.id)) gone.push_back(job.id);
    if (may_run || !IsOurs(job) || job.state != JobState::kRunning) continue;
    const absl::Status queued = QueueAgain(job.id);
    if (!queued.ok()) loop_.Failed(queued, [this] { SeeOwners(); });
  }
  for (const auto& [id, active] : jobs_) {
    if (!ids.contains(id)) gone.push_back(id);  // it was ended through another daemon
  }
  for (const int64_t id : gone) {
    spdlog::info("job {} is no longer run here", id);
    Retire(id);
  }
  return have_ended || !gone.empty();
}

void TuningLoop::PutAside(int64_t job) {
  const auto active = jobs_.find(job);
  if (active == jobs_.end()) return;
  LetSleep(active->second.job);
  Retire(job);
}

void TuningLoop::SeeRefused() {
  if (!loop_.was_refused) return;
  loop_.was_refused = false;
  const absl::Status held = SeeOwnLife();
  if (held.ok()) {
    SeeJobs();
  } else if (IsRefused(held)) {
    loop_.Fatal(held);
  } else {
    loop_.Failed(held, [this] { loop_.was_refused = true; });
  }
}

absl::Status TuningLoop::SeeOwnLife() {
  if (!loop_.HasOthers()) return absl::OkStatus();
  const tuning_db::Ownership& self = loop_.parts.ownership;
  return loop_.parts.store->RenewJobs(self, loop_.options.owner_lease_ns).status();
}

// Events are changes as well, and most that come are of trials.
bool TuningLoop::MayMatter(int64_t changed_job) {
  const auto asleep = asleep_.find(changed_job);
  const bool is_ours =
      jobs_.contains(changed_job) ||
      (asleep != asleep_.end() && asleep->second.epoch == loop_.parts.ownership.epoch);
  if (is_ours || changed_job == 0) return true;
  if (asleep == asleep_.end()) return false;  // a new one of another daemon holds up none of ours
  return std::ranges::any_of(asleep_, [&](const auto& item) {
    const Sleeper& sleeper = item.second;
    return sleeper.epoch == loop_.parts.ownership.epoch && sleeper.state == JobState::kQueued &&
           std::ranges::any_of(sleeper.wants, [&](const TaskKey& key) {
             return asleep->second.wants.contains(key);
           });
  });
}

bool TuningLoop::SeeChanges() {
  if (!changed_) return false;
  const std::set<int64_t> changed = changed_->Take();
  return std::ranges::any_of(changed, [&](int64_t id) { return MayMatter(id) && !IsAsSeen(id); }) &&
         SeeJobs();
}

bool TuningLoop::IsAsSeen(int64_t id) {
  if (id == 0) return false;
  const auto job = loop_.parts.store->GetJob(id);
  if (!job.ok()) return false;  // SeeJobs says what is wrong
  if (jobs_.contains(id)) return IsOurs(*job) && job->state == JobState::kRunning;
  const Sleeper& sleeper = asleep_.at(id);
  return sleeper.state == job->state && sleeper.epoch == job->epoch;
}

void TuningLoop::Start(int64_t job) {
  if (loop_.HasOthers()) {
    SeeJobs();
    return;
  }
  Activate(job);
}

}  // namespace hone::tuner
