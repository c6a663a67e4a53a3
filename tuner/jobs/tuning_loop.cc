// Jobs: what is wanted, by whom, and when it is done.
#include "tuner/jobs/tuning_loop.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "support/crash_point.h"
#include "support/status.h"

namespace hone::tuner {

using tuning_db::JobState;
using tuning_db::Purpose;

void TuningLoop::Resume() {
  parts_.executor->Post([this] { DoResume(); });
}

void TuningLoop::JobSubmitted(int64_t job) {
  parts_.executor->Post([this, job] {
    Activate(job);
    Pump();
  });
}

void TuningLoop::CancelJob(int64_t job, std::function<void(absl::Status)> done) {
  parts_.executor->Post([this, job, done = std::move(done)] { DoCancel(job, done); });
}

void TuningLoop::Stop() {
  parts_.executor->Post([this] { stopped_ = true; });
}

void TuningLoop::Tick() {
  parts_.executor->Post([this] {
    bool expired = false;
    for (auto& [id, active] : jobs_) {
      if (active.expired || active.job.deadline_ns <= 0) continue;
      active.expired = parts_.clock->NowNs() - active.started_ns >= active.job.deadline_ns;
      expired |= active.expired;
    }
    if (expired) Pump();
  });
}

void TuningLoop::DoResume() {
  const auto jobs = parts_.store->ListJobs(0, 0);
  if (!jobs.ok()) return Fatal(jobs.status());
  for (const tuning_db::Job& job : *jobs) {
    if (!HasEnded(job.state)) Activate(job.id);
  }
  AdoptOpenTrials();
  Pump();
}

void TuningLoop::Activate(int64_t id) {
  if (stopped_ || jobs_.count(id) > 0) return;
  const auto job = parts_.store->GetJob(id);
  if (!job.ok()) return Fatal(job.status());
  if (HasEnded(job->state)) return;
  for (const tuning_db::JobTask& task : job->tasks) {
    Runner* runner = EnsureRunner(task);
    if (runner == nullptr) return;  // the store failed
    runner->closed = false;
  }
  if (job->state == JobState::kQueued) {
    const absl::Status running = parts_.store->SetJobState(id, JobState::kRunning, "");
    if (!running.ok()) return Fatal(running);
  }
  ActiveJob& active = jobs_[id];
  active.job = *job;
  active.started_ns = parts_.clock->NowNs();
  spdlog::info("job {} ({} tasks of {}) runs", id, job->tasks.size(), job->model);
  Emit(id);
}

TuningLoop::Runner* TuningLoop::EnsureRunner(const tuning_db::JobTask& wanted) {
  const TaskKey key(wanted.task, wanted.signature);
  if (Runner* known = Find(key)) return known;
  const auto task = parts_.store->GetTask(wanted.task);
  if (!task.ok()) {
    Fatal(task.status());
    return nullptr;
  }
  auto runner = std::make_unique<Runner>(key, *task);
  const absl::Status loaded = runner->history.Load(*parts_.store);
  if (!loaded.ok()) {
    Fatal(loaded);
    return nullptr;
  }
  auto context = parts_.lowerer->Open(task->workload, key.second, task->target);
  if (context.ok()) {
    runner->context = *std::move(context);
  } else {
    runner->failure = std::string(context.status().message());
  }
  return (runners_[key] = std::move(runner)).get();
}

// Of an earlier life of the daemon. Those that nobody wants any more are cancelled: their job ended
// when the daemon did.
void TuningLoop::AdoptOpenTrials() {
  const auto open = parts_.store->OpenTrials(0);
  if (!open.ok()) return Fatal(open.status());
  for (const tuning_db::Trial& trial : *open) {
    Runner* runner = Find({trial.task, trial.signature});
    if (runner == nullptr || !runner->failure.empty()) {
      const absl::Status settled =
          SettleFailure(trial, tuning_db::Outcome::kCancelled, "its job has ended");
      if (!settled.ok()) return Fatal(settled);
    } else if (trial.purpose == Purpose::kConfirm) {
      runner->open_confirm = trial;
    } else {
      runner->history.Proposed(trial);
      Adopt(*runner, trial);
    }
  }
}

void TuningLoop::DoCancel(int64_t id, const std::function<void(absl::Status)>& done) {
  const absl::Status cancelled = parts_.store->SetJobState(id, JobState::kCancelled, "cancelled");
  if (cancelled.ok()) {
    jobs_.erase(id);
    DropUnwanted();
    Emit(id);
  }
  done(cancelled);
  Pump();
}

void TuningLoop::DropUnwanted() {
  for (auto it = runners_.begin(); it != runners_.end();) {
    Runner& runner = *it->second;
    if (!WantsOf(runner).empty()) {
      ++it;
      continue;
    }
    Abandon(runner, "its job has ended");
    it = runners_.erase(it);
  }
}

void TuningLoop::FinishJobs() {
  std::vector<int64_t> ended;
  for (const auto& [id, active] : jobs_) {
    int64_t failed = 0;
    bool is_short = false;
    std::string why;
    bool is_done = true;
    for (const tuning_db::JobTask& task : active.job.tasks) {
      const Runner* runner = Find({task.task, task.signature});
      if (runner == nullptr || !IsClosed(*runner)) {
        is_done = false;
        break;
      }
      is_short |= !runner->exhausted && runner->history.count() < task.trials;
      if (runner->failure.empty()) continue;
      if (failed++ == 0) why = fmt::format("{}: {}", task.name, runner->failure);
    }
    if (!is_done) continue;
    std::string message;
    if (failed > 0) {
      message = fmt::format("{} of {} kernels could not be tuned; {}", failed,
                            active.job.tasks.size(), why);
    } else if (active.expired && is_short) {
      message = "ended by its time limit, before its budget";
    }
    const JobState state = failed > 0 ? JobState::kFailed : JobState::kDone;
    CrashPoint("tuner.job_end.before");
    const absl::Status set = parts_.store->SetJobState(id, state, message);
    CrashPoint("tuner.job_end.after");
    if (!set.ok()) return Fatal(set);
    spdlog::info("job {} is {}{}{}", id, tuning_db::Name(state), message.empty() ? "" : ": ",
                 message);
    ended.push_back(id);
  }
  for (const int64_t id : ended) {
    jobs_.erase(id);
    Emit(id);
  }
  if (!ended.empty()) DropUnwanted();
}

std::vector<TuningLoop::Want> TuningLoop::WantsOf(const Runner& runner) const {
  std::vector<Want> wants;
  for (const auto& [id, active] : jobs_) {
    for (const tuning_db::JobTask& task : active.job.tasks) {
      if (TaskKey(task.task, task.signature) == runner.key) wants.push_back({&active, &task});
    }
  }
  std::stable_sort(wants.begin(), wants.end(), [](const Want& a, const Want& b) {
    return a.job->job.priority > b.job->job.priority;
  });
  return wants;
}

std::optional<TuningLoop::Want> TuningLoop::WhoWantsMore(const Runner& runner) const {
  if (runner.exhausted) return std::nullopt;
  for (const Want& want : WantsOf(runner)) {
    if (!want.job->expired && runner.history.count() < want.task->trials) return want;
  }
  return std::nullopt;
}

bool TuningLoop::IsClosed(const Runner& runner) const {
  return runner.closed || !runner.failure.empty();
}

void TuningLoop::FailTask(Runner& runner, const std::string& why) {
  spdlog::error("task {} {}: {}", runner.key.first, runner.key.second, why);
  Abandon(runner, why);
  runner.failure = why;
}

void TuningLoop::Emit(int64_t job) const {
  if (parts_.on_event) parts_.on_event(job);
}

void TuningLoop::Pump() {
  if (stopped_) return;
  bool phase = false;
  do {
    phase = measure_phase_;
    for (auto& [key, runner] : runners_) {
      if (IsClosed(*runner)) continue;
      BeginFinalWhenDue(*runner);
      if (!IsClosed(*runner)) NeedReference(*runner);
    }
    ProposeMore();
    DispatchBuilds();
    DispatchMeasurements();
  } while (phase != measure_phase_ && !stopped_);
  if (!stopped_) FinishJobs();
}

TuningLoop::Runner* TuningLoop::Find(const TaskKey& key) {
  const auto it = runners_.find(key);
  return it == runners_.end() ? nullptr : it->second.get();
}

bool TuningLoop::Alternates() const {
  if (options_.local_cores <= 0) return false;
  return std::any_of(runners_.begin(), runners_.end(), [&](const auto& item) {
    const Runner& runner = *item.second;
    return !IsClosed(runner) && runner.context->threads() >= options_.local_cores;
  });
}

void TuningLoop::Fatal(const absl::Status& status) {
  spdlog::critical("the tuning database fails, tuning stops: {}", status.ToString());
  stopped_ = true;
  if (parts_.on_fatal) parts_.on_fatal(status);
}

}  // namespace hone::tuner
