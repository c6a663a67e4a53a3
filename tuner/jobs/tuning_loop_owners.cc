// Jobs of several daemons on one store: which of them are this one's to run.
//
// A task is tuned by one daemon at a time: that of the oldest job that wants it and has not ended.
// Younger jobs of other daemons wait for it, and find what it has measured when it has ended. So
// the budget of a task is kept by one loop, as with one daemon.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "tuner/jobs/tuning_loop.h"

namespace hone::tuner {

using tuning_db::Job;
using tuning_db::JobState;

namespace {

bool Share(const std::set<TaskKey>& keys, const Job& other) {
  return std::ranges::any_of(
      other.tasks, [&](const tuning_db::JobTask& task) { return keys.contains(KeyOf(task)); });
}

}  // namespace

bool TuningLoop::IsOurs(const Job& job) const { return job.epoch == loop_.parts.ownership.epoch; }

bool TuningLoop::MayRun(const Job& job, const std::vector<Job>& open) const {
  if (!IsOurs(job) || job.state == JobState::kPaused) return false;
  const std::set<TaskKey> keys = KeysOf(job);
  return std::ranges::none_of(open, [&](const Job& other) {
    return other.id < job.id && !IsOurs(other) && Share(keys, other);
  });
}

bool TuningLoop::SeeJobs() {
  const auto open = OpenJobs();
  if (!open.ok()) {
    loop_.Fatal(open.status());
    return false;
  }
  std::set<int64_t> ids;
  for (const Job& job : *open) ids.insert(job.id);
  bool changed =
      std::erase_if(asleep_, [&](const auto& sleeper) { return !ids.contains(sleeper.first); }) > 0;
  // What others run sleeps here before anything is retired, so that its trials are left to them.
  std::vector<int64_t> gone;
  for (const Job& job : *open) {
    if (MayRun(job, *open)) continue;
    LetSleep(job);
    if (jobs_.contains(job.id)) gone.push_back(job.id);
  }
  for (const auto& [id, active] : jobs_) {
    if (!ids.contains(id)) gone.push_back(id);  // it was ended through another daemon
  }
  for (const int64_t id : gone) {
    spdlog::info("job {} is no longer run here", id);
    Retire(id);
  }
  changed |= !gone.empty();
  for (const Job& job : *open) {
    if (loop_.stopped || jobs_.contains(job.id) || !MayRun(job, *open)) continue;
    Activate(job.id);
    changed = true;
  }
  if (changed && !loop_.stopped) AdoptOpenTrials();
  return changed;
}

bool TuningLoop::SeeRefused() {
  if (!loop_.was_refused) return false;
  loop_.was_refused = false;
  return SeeJobs();
}

void TuningLoop::Start(int64_t job) {
  if (loop_.HasOthers()) {
    SeeJobs();
    return;
  }
  Activate(job);
}

}  // namespace hone::tuner
