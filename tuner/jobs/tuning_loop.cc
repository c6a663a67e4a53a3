// Jobs: what is wanted, by whom, and when it is done.
#include "tuner/jobs/tuning_loop.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "support/crash_point.h"
#include "support/status.h"
#include "tuning_db/end_jobs.h"

namespace hone::tuner {

using tuning_db::HasEnded;
using tuning_db::JobState;
using tuning_db::Purpose;

void TuningLoop::Resume() {
  parts_.executor->Post([this] { DoResume(); });
}

void TuningLoop::JobSubmitted(int64_t job) {
  parts_.executor->Post([this, job] {
    Activate(job);
    if (parts_.is_private) AdoptOpenTrials();  // of a service's job that wants the same task
    Pump();
  });
}

void TuningLoop::CancelJob(int64_t job, std::function<void(absl::Status)> done) {
  parts_.executor->Post([this, job, done = std::move(done)] { DoCancel(job, done); });
}

void TuningLoop::Stop() {
  parts_.executor->Post([this] {
    for (auto& [id, active] : jobs_) SaveRan(active, parts_.clock->NowNs());
    stopped_ = true;
  });
}

void TuningLoop::Tick() {
  parts_.executor->Post([this] { DoTick(); });
}

void TuningLoop::DoTick() {
  if (stopped_) return;
  const int64_t now_ns = parts_.clock->NowNs();
  for (auto& [id, active] : jobs_) {
    if (now_ns - active.ran_saved_ns >= options_.save_ran_ns) SaveRan(active, now_ns);
  }
  bool has_news = SeeDeadlines(now_ns);
  has_news |= SeeDevices();
  has_news |= CloseStranded(now_ns);
  if (has_news) Pump();
}

void TuningLoop::DoResume() {
  const auto ended = tuning_db::EndPrivateJobs(*parts_.store, *parts_.clock);
  if (!ended.ok()) return Fatal(ended.status());
  if (*ended > 0) spdlog::info("{} jobs are cancelled: their hone tune has ended", *ended);
  const auto jobs = parts_.store->Jobs();
  if (!jobs.ok()) return Fatal(jobs.status());
  int left = 0;
  for (const tuning_db::Job& job : *jobs) {
    if (HasEnded(job.state)) continue;
    if (!parts_.is_private) {
      Activate(job.id);
      continue;
    }
    ++left;
    for (const tuning_db::JobTask& task : job.tasks) {
      left_alone_.emplace(task.task, task.signature);
    }
  }
  if (left > 0) {
    spdlog::info("{} unfinished jobs of honed are left for it to go on with; see hone job list",
                 left);
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
    if (EnsureRunner(task) == nullptr) return;  // the store failed
  }
  if (job->state == JobState::kQueued) {
    const absl::Status running = parts_.store->SetJobState(id, JobState::kRunning, "");
    if (!running.ok()) return Fatal(running);
  }
  ActiveJob& active = jobs_[id];
  active.job = *job;
  active.ran_saved_ns = parts_.clock->NowNs();
  active.started_ns = active.ran_saved_ns - job->ran_ns;
  for (const tuning_db::JobTask& task : active.job.tasks) {
    TaskRunner& runner = *Find({task.task, task.signature});
    runner.AddWant({&active, &task});
    runner.closed = false;
  }
  spdlog::info("job {} ({} tasks of {}) runs", id, job->tasks.size(), job->model);
  Emit(id);
}

TaskRunner* TuningLoop::EnsureRunner(const tuning_db::JobTask& wanted) {
  const TaskKey key(wanted.task, wanted.signature);
  if (TaskRunner* known = Find(key)) return known;
  const auto task = parts_.store->GetTask(wanted.task);
  if (!task.ok()) {
    Fatal(task.status());
    return nullptr;
  }
  auto runner = std::make_unique<TaskRunner>(key, *task);
  auto context = parts_.lowerer->Open(task->workload, key.second, task->target);
  if (context.ok()) {
    runner->context = *std::move(context);
    runner->history.ReadIn(&runner->context->space());
  } else {
    runner->failure = std::string(context.status().message());
  }
  const absl::Status loaded = runner->history.Load(*parts_.store);
  if (!loaded.ok()) {
    Fatal(loaded);
    return nullptr;
  }
  runner->unserved_since_ns = parts_.clock->NowNs();
  return (runners_[key] = std::move(runner)).get();
}

// Open trials of an earlier life of the daemon, or of a service whose jobs want the same tasks.
// Those that nobody wants any more are cancelled: their job ended when the daemon did.
void TuningLoop::AdoptOpenTrials() {
  const auto open = parts_.store->OpenTrials(0);
  if (!open.ok()) return Fatal(open.status());
  for (const tuning_db::Trial& trial : *open) {
    const TaskKey key(trial.task, trial.signature);
    TaskRunner* runner = Find(key);
    const bool is_wanted = runner != nullptr && runner->failure.empty();
    if (is_wanted ? runner->Has(trial.id) : left_alone_.contains(key)) continue;
    if (!is_wanted) {
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
    Retire(id);
    Emit(id);
  }
  done(cancelled);
  Pump();
}

void TuningLoop::Retire(int64_t job) {
  for (auto it = runners_.begin(); it != runners_.end();) {
    TaskRunner& runner = *it->second;
    runner.RemoveWants(job);
    if (!runner.wants.empty()) {
      ++it;
      continue;
    }
    Abandon(runner, "its job has ended");
    SetWaiting(runner, "");
    it = runners_.erase(it);
  }
  jobs_.erase(job);
}

void TuningLoop::Disown(int64_t job) {
  if (jobs_.count(job) == 0) return;
  spdlog::warn("job {} is another daemon's by now", job);
  std::erase_if(runners_, [&](const auto& item) {
    TaskRunner& runner = *item.second;
    runner.RemoveWants(job);
    if (!runner.wants.empty()) return false;
    Forget(runner);
    SetWaiting(runner, "");
    return true;
  });
  jobs_.erase(job);
  Pump();
}

// ---- time ----

void TuningLoop::SaveRan(ActiveJob& active, int64_t now_ns) {
  active.ran_saved_ns = now_ns;
  if (stopped_ || active.job.deadline_ns <= 0) return;  // nobody would ask
  const absl::Status saved = parts_.store->SetJobRan(active.job.id, active.RanNs(now_ns));
  if (!saved.ok()) Fatal(saved);
}

bool TuningLoop::SeeDeadlines(int64_t now_ns) {
  bool expired = false;
  for (auto& [id, active] : jobs_) {
    if (active.expired || active.job.deadline_ns <= 0) continue;
    active.expired = active.RanNs(now_ns) >= active.job.deadline_ns;
    expired |= active.expired;
  }
  return expired;
}

// ---- devices ----

bool TuningLoop::SeeDevices() {
  bool changed = false;
  for (auto& [key, runner] : runners_) {
    const bool is_served = parts_.measurer->Serves(runner->task.target);
    if (is_served == runner->is_served) continue;
    runner->is_served = is_served;
    runner->unserved_since_ns = parts_.clock->NowNs();
    changed = true;
  }
  return changed;
}

bool TuningLoop::CloseStranded(int64_t now_ns) {
  bool closed = false;
  for (auto& [key, runner] : runners_) {
    if (runner->IsClosed() || runner->is_served || runner->HasTime()) continue;
    if (now_ns - runner->unserved_since_ns < options_.device_grace_ns) continue;
    Abandon(*runner, "its job's time is up, and no device is there");
    runner->closed = true;
    closed = true;
  }
  return closed;
}

void TuningLoop::AnnounceWaiting() {
  for (auto& [key, runner] : runners_) {
    const bool waits = !runner->IsClosed() && !runner->is_served;
    SetWaiting(
        *runner,
        waits ? fmt::format("no connected device has the target {}", runner->task.target) : "");
  }
  for (auto& [id, active] : jobs_) {
    std::string waiting;
    for (const tuning_db::JobTask& task : active.job.tasks) {
      waiting = Find({task.task, task.signature})->waiting;
      if (!waiting.empty()) break;
    }
    if (waiting == active.waiting) continue;
    active.waiting = waiting;
    const auto added =
        parts_.store->AppendEvent(id, "waiting", nlohmann::json({{"waiting", waiting}}).dump());
    if (!added.ok()) return Fatal(added.status());
    Emit(id);
  }
}

void TuningLoop::SetWaiting(TaskRunner& runner, const std::string& what) {
  if (runner.waiting == what) return;
  runner.waiting = what;
  if (parts_.on_waiting) parts_.on_waiting(runner.key.first, runner.key.second, what);
}

// ---- ends ----

void TuningLoop::FinishJobs() {
  std::vector<int64_t> ended;
  for (const auto& [id, active] : jobs_) {
    const auto& tasks = active.job.tasks;
    const bool is_done = std::all_of(tasks.begin(), tasks.end(), [&](const auto& task) {
      return Find({task.task, task.signature})->IsClosed();
    });
    if (!is_done) continue;
    Finish(active);
    if (stopped_) return;
    ended.push_back(id);
  }
  for (const int64_t id : ended) {
    Retire(id);
    Emit(id);
  }
}

void TuningLoop::Finish(const ActiveJob& active) {
  int64_t failed = 0;
  bool is_short = false;
  std::string why;
  for (const tuning_db::JobTask& task : active.job.tasks) {
    const TaskRunner& runner = *Find({task.task, task.signature});
    is_short |= !runner.IsSearchedFor(active.job.id) || runner.NeedsFinal();
    if (runner.failure.empty()) continue;
    if (failed++ == 0) why = fmt::format("{}: {}", task.name, runner.failure);
  }
  std::string message;
  if (failed > 0) {
    message = fmt::format("{} of {} kernels could not be tuned; {}", failed,
                          active.job.tasks.size(), why);
  } else if (active.expired && is_short) {
    message = "ended by its time limit, before its budget";
  }
  const JobState state = failed > 0 ? JobState::kFailed : JobState::kDone;
  CrashPoint("tuner.job_end.before");
  const absl::Status set = parts_.store->SetJobState(active.job.id, state, message);
  CrashPoint("tuner.job_end.after");
  if (!set.ok()) return Fatal(set);
  spdlog::info("job {} is {}{}{}", active.job.id, tuning_db::Name(state),
               message.empty() ? "" : ": ", message);
}

void TuningLoop::FailTask(TaskRunner& runner, const std::string& why) {
  spdlog::error("task {} {}: {}", runner.key.first, runner.key.second, why);
  Abandon(runner, why);
  runner.failure = why;
}

void TuningLoop::Emit(int64_t job) const {
  if (parts_.on_event) parts_.on_event(job);
}

void TuningLoop::Pump() {
  if (stopped_ || is_pump_posted_) return;
  is_pump_posted_ = true;
  parts_.executor->Post([this] { DoPump(); });
}

void TuningLoop::DoPump() {
  is_pump_posted_ = false;
  if (stopped_) return;
  SeeDevices();
  bool phase = false;
  do {
    phase = measure_phase_;
    JudgeSearches();
    for (auto& [key, runner] : runners_) {
      if (!runner->IsClosed()) BeginFinalWhenDue(*runner);
      if (!runner->IsClosed() && runner->is_served) NeedSharedArtifacts(*runner);
    }
    ProposeMore();
    DispatchBuilds();
    DispatchMeasurements();
  } while (phase != measure_phase_ && !stopped_);
  if (!stopped_) AnnounceWaiting();
  if (!stopped_) FinishJobs();
}

TaskRunner* TuningLoop::Find(const TaskKey& key) {
  const auto it = runners_.find(key);
  return it == runners_.end() ? nullptr : it->second.get();
}

BuildQueue::Filter TuningLoop::IsServed() const {
  return [this](const TaskKey& key) {
    const auto it = runners_.find(key);
    return it != runners_.end() && it->second->is_served;
  };
}

bool TuningLoop::IsMeasuring() const {
  return std::any_of(runners_.begin(), runners_.end(), [](const auto& item) {
    return item.second->is_served && !item.second->measuring.empty();
  });
}

bool TuningLoop::Alternates() const {
  if (options_.local_cores <= 0) return false;
  return std::any_of(runners_.begin(), runners_.end(), [&](const auto& item) {
    const TaskRunner& runner = *item.second;
    return !runner.IsClosed() && runner.is_served &&
           runner.context->threads() >= options_.local_cores;
  });
}

void TuningLoop::Fatal(const absl::Status& status) {
  spdlog::critical("the tuning database fails, tuning stops: {}", status.ToString());
  stopped_ = true;
  if (parts_.on_fatal) parts_.on_fatal(status);
}

}  // namespace hone::tuner
