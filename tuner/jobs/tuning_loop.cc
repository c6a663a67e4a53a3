#include "tuner/jobs/tuning_loop.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "support/crash_point.h"
#include "support/status.h"
#include "tuner/one_line.h"
#include "tuning_db/end_jobs.h"
#include "tuning_db/pause_jobs.h"

namespace hone::tuner {

using tuning_db::HasEnded;
using tuning_db::JobState;
using tuning_db::Trial;
using tuning_db::TrialState;

TuningLoop::TuningLoop(TuningOptions options, TuningParts parts)
    : loop_{std::move(options), std::move(parts)},
      flow_(loop_, jobs_, {[this] { Pump(); }, [this] { AdoptOpenTrials(); }}) {
  if (loop_.HasOthers()) changed_.emplace(*loop_.parts.store);
}

void TuningLoop::Pump() {
  if (loop_.stopped || is_pump_posted_) return;
  is_pump_posted_ = true;
  loop_.parts.executor->Post([this] { DoPump(); });
}

void TuningLoop::DoPump() {
  is_pump_posted_ = false;
  // First, or what was refused would be asked for again at once.
  if (!loop_.stopped) SeeRefused();
  if (!loop_.stopped) flow_.Advance();
  if (!loop_.stopped) AnnounceWaiting();
  if (!loop_.stopped) FinishJobs();
}

// ---- what is asked of it ----

void TuningLoop::Begin() {
  loop_.parts.executor->Post([this] { DoBegin(); });
}

void TuningLoop::JobSubmitted(int64_t job, TaskContexts contexts) {
  loop_.parts.executor->Post([this, job, contexts = std::move(contexts)]() mutable {
    const bool others_sleep = !asleep_.empty();
    flow_.tasks().Offer(std::move(contexts));
    Start(job);
    flow_.tasks().Offer({});
    if (others_sleep) AdoptOpenTrials();  // its own, or of a job that wants the same task
    Pump();
  });
}

void TuningLoop::SeeOwners(const std::vector<int64_t>& taken) {
  loop_.parts.executor->Post([this, taken] {
    if (loop_.stopped || !loop_.HasOthers()) return;
    for (const int64_t job : taken) PutAside(job);
    const bool changed = SeeJobs();
    if (!taken.empty() && !loop_.stopped) AdoptOpenTrials();  // of those that are paused
    if (changed) Pump();
  });
}

void TuningLoop::CancelJob(int64_t job, std::function<void(absl::Status)> done) {
  loop_.parts.executor->Post([this, job, done = std::move(done)] { Answer(Cancel(job), done); });
}

void TuningLoop::PauseJob(int64_t job, std::function<void(absl::Status)> done) {
  loop_.parts.executor->Post([this, job, done = std::move(done)] { Answer(Pause(job), done); });
}

void TuningLoop::ResumeJob(int64_t job, std::function<void(absl::Status)> done) {
  loop_.parts.executor->Post([this, job, done = std::move(done)] { Answer(Resume(job), done); });
}

void TuningLoop::Answer(const absl::Status& status, const std::function<void(absl::Status)>& done) {
  done(status);
  Pump();
}

void TuningLoop::Stop() {
  loop_.parts.executor->Post([this] {
    for (auto& [id, active] : jobs_) SaveRan(active, loop_.parts.clock->NowNs());
    loop_.stopped = true;
  });
}

std::map<std::string, uint64_t> TuningLoop::JobsEnded() const {
  return {{"done", done_}, {"failed", failed_}, {"cancelled", cancelled_}};
}

void TuningLoop::Tick() {
  loop_.parts.executor->Post([this] { DoTick(); });
}

void TuningLoop::DoTick() {
  if (loop_.stopped) return;
  loop_.TryAgain();
  const int64_t now_ns = loop_.parts.clock->NowNs();
  for (auto& [id, active] : jobs_) {
    if (now_ns - active.ran_saved_ns >= loop_.options.save_ran_ns) SaveRan(active, now_ns);
  }
  bool has_news = loop_.was_refused || SeeChanges();
  has_news |= SeeDeadlines(now_ns);
  has_news |= flow_.tasks().SeeDevices();
  has_news |= flow_.CancelLate(now_ns);
  has_news |= flow_.CloseStranded(now_ns);
  if (has_news) Pump();
}

void TuningLoop::DoBegin() {
  const auto ended = tuning_db::EndPrivateJobs(*loop_.parts.store, *loop_.parts.clock);
  if (!ended.ok()) return loop_.Failed(ended.status(), [this] { DoBegin(); });
  if (*ended > 0) spdlog::info("{} jobs are cancelled: their hone tune has ended", *ended);
  const auto jobs = OpenJobs();
  if (!jobs.ok()) return loop_.Failed(jobs.status(), [this] { DoBegin(); });
  for (const tuning_db::Job& job : *jobs) LetSleep(job);
  if (loop_.parts.is_private && !jobs->empty()) {
    spdlog::info("{} unfinished jobs of honed are left for it to go on with; see hone job list",
                 jobs->size());
  }
  for (const tuning_db::Job& job : *jobs) {
    const bool is_paused = job.state == JobState::kPaused;
    if (!is_paused && !loop_.parts.is_private && !loop_.HasOthers()) Activate(job.id);
  }
  if (loop_.HasOthers()) SeeJobs();
  AdoptOpenTrials();
  Pump();
}

absl::StatusOr<std::vector<tuning_db::Job>> TuningLoop::OpenJobs() const {
  return loop_.parts.store->Jobs(
      {.states = {JobState::kQueued, JobState::kRunning, JobState::kPaused}, .submitter = ""});
}

void TuningLoop::Activate(int64_t id) {
  if (loop_.stopped || jobs_.count(id) > 0) return;
  const absl::Status begun = TryActivate(id);
  if (begun.ok()) return;
  loop_.Failed(begun, [this, id] {
    Start(id);
    AdoptOpenTrials();
    Pump();
  });
}

absl::Status TuningLoop::TryActivate(int64_t id) {
  HONE_ASSIGN_OR_RETURN(const tuning_db::Job job, loop_.parts.store->GetJob(id));
  if (HasEnded(job.state) || job.state == JobState::kPaused) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(const bool is_claimed, Claim(job));
  if (!is_claimed) {
    LetSleep(job);
    return absl::OkStatus();
  }
  for (const tuning_db::JobTask& task : job.tasks) {
    HONE_ASSIGN_OR_RETURN(TaskRunner* const runner, flow_.tasks().Ensure(task));
    if (!runner->is_stale || runner->context == nullptr) continue;
    HONE_RETURN_IF_ERROR(runner->Reload(*loop_.parts.store));
  }
  Run(job);
  return absl::OkStatus();
}

void TuningLoop::Run(const tuning_db::Job& job) {
  const int64_t id = job.id;
  asleep_.erase(id);
  ActiveJob& active = jobs_[id];
  active.job = job;
  active.ran_saved_ns = loop_.parts.clock->NowNs();
  active.started_ns = active.ran_saved_ns - job.ran_ns;
  for (const tuning_db::JobTask& task : active.job.tasks) {
    TaskRunner& runner = *flow_.tasks().Find(KeyOf(task));
    runner.AddWant({&active, &task});
    runner.closed = false;
  }
  spdlog::info("job {} ({} tasks of {}) runs", id, job.tasks.size(), OnOneLine(job.model));
}

void TuningLoop::LetSleep(const tuning_db::Job& job) {
  asleep_[job.id] = {KeysOf(job), job.state, job.epoch};
}

bool TuningLoop::IsWantedBySleepers(const TaskKey& key) const {
  return std::ranges::any_of(
      asleep_, [&](const auto& sleeper) { return sleeper.second.wants.contains(key); });
}

// Whether its job goes on, and not here.
bool TuningLoop::IsOfAnotherOwner(const Trial& trial) const {
  if (jobs_.contains(trial.job)) return false;
  const auto job = loop_.parts.store->GetJob(trial.job);
  return job.ok() && !HasEnded(job->state);
}

bool TuningLoop::IsLeftToUs(const Trial& trial) const {
  if (loop_.parts.is_private) return false;  // a service goes on with its own
  if (!loop_.HasOthers()) return true;
  const int64_t epoch = loop_.parts.ownership.epoch;
  const auto own = asleep_.find(trial.job);
  if (own != asleep_.end()) return own->second.epoch == epoch;
  const TaskKey key(trial.task, trial.signature);
  return std::ranges::all_of(asleep_, [&](const auto& item) {
    return item.second.epoch == epoch || !item.second.wants.contains(key);
  });
}

// Open trials of an earlier life of the daemon, or of a job that sleeps and wants the same tasks.
// Those that nobody wants any more are cancelled: their job has ended. What a worker may have of a
// job that sleeps is waited for all the same, for no lease is to outlive its time.
void TuningLoop::AdoptOpenTrials() {
  const auto again = [this] {
    AdoptOpenTrials();
    Pump();
  };
  const auto open = loop_.parts.store->OpenTrials(0);
  if (!open.ok()) return loop_.Failed(open.status(), again);
  for (const Trial& trial : *open) {
    const TaskKey key(trial.task, trial.signature);
    TaskRunner* runner = flow_.tasks().Find(key);
    const bool is_wanted = runner != nullptr && runner->IsWanted() && runner->failure.empty();
    if (is_wanted) {
      if (!runner->Has(trial.id)) flow_.Adopt(*runner, trial);
    } else if (!IsWantedBySleepers(key)) {
      if (!IsOfAnotherOwner(trial)) flow_.CancelTrial(trial, "its job has ended");
    } else if (trial.state == TrialState::kLeased && IsLeftToUs(trial)) {
      const absl::Status awaited = flow_.AwaitParked(trial);
      if (!awaited.ok()) return loop_.Failed(awaited, again);
    }
  }
}

absl::Status TuningLoop::Cancel(int64_t id) {
  // What a person asks for is done through any daemon; the job's own sees it.
  HONE_RETURN_IF_ERROR(loop_.parts.store->SetJobState(id, JobState::kCancelled, "cancelled"));
  const bool slept = asleep_.erase(id) > 0;
  cancelled_ += slept || jobs_.contains(id);
  Retire(id);
  if (slept) AdoptOpenTrials();  // or cancels them
  return absl::OkStatus();
}

absl::Status TuningLoop::Pause(int64_t id) {
  const auto active = jobs_.find(id);
  if (active != jobs_.end()) SaveRan(active->second, loop_.parts.clock->NowNs());
  CrashPoint("tuner.pause.before");
  HONE_ASSIGN_OR_RETURN(const bool is_new,
                        tuning_db::PauseJob(*loop_.parts.store, tuning_db::Ownership(), id));
  CrashPoint("tuner.pause.after");
  if (!is_new) return absl::OkStatus();
  spdlog::info("job {} is paused", id);
  HONE_ASSIGN_OR_RETURN(const tuning_db::Job job, loop_.parts.store->GetJob(id));
  LetSleep(job);
  Retire(id);
  return absl::OkStatus();
}

absl::Status TuningLoop::Resume(int64_t id) {
  CrashPoint("tuner.resume.before");
  HONE_ASSIGN_OR_RETURN(const bool is_new,
                        tuning_db::ResumeJob(*loop_.parts.store, tuning_db::Ownership(), id));
  CrashPoint("tuner.resume.after");
  if (!is_new || loop_.parts.is_private) return absl::OkStatus();
  Start(id);
  AdoptOpenTrials();
  return absl::OkStatus();
}

void TuningLoop::Retire(int64_t job) {
  std::vector<TaskKey> parked;
  for (auto it = flow_.tasks().runners().begin(); it != flow_.tasks().runners().end();) {
    TaskRunner& runner = *it->second;
    const bool was_wanted = runner.IsWanted();
    runner.RemoveWants(job);
    const bool sleeps = !runner.IsWanted() && IsWantedBySleepers(runner.key);
    if (sleeps && was_wanted) parked.push_back(runner.key);
    if (runner.IsWanted() || sleeps) {
      ++it;
      continue;
    }
    flow_.Abandon(runner, "its job has ended");
    flow_.tasks().SetWaiting(runner, "");
    it = flow_.tasks().runners().erase(it);
  }
  flow_.Park(parked);
  jobs_.erase(job);
}

// ---- time ----

void TuningLoop::SaveRan(ActiveJob& active, int64_t now_ns) {
  active.ran_saved_ns = now_ns;
  if (loop_.stopped || active.job.deadline_ns <= 0) return;  // nobody would ask
  const absl::Status saved =
      loop_.parts.store->SetJobRan(loop_.parts.ownership, active.job.id, active.RanNs(now_ns));
  if (!saved.ok()) loop_.Failed(saved, [] { /* It is saved again soon. */ });
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

// ---- what is said of them ----

void TuningLoop::AnnounceWaiting() {
  for (auto& [key, runner] : flow_.tasks().runners()) {
    const bool waits = runner->IsActive() && !runner->is_served;
    flow_.tasks().SetWaiting(*runner,
                             waits ? fmt::format("no connected device has {}",
                                                 runner->Need(*loop_.parts.measurer).ToText())
                                   : "");
  }
  for (auto& [id, active] : jobs_) {
    std::string waiting;
    for (const tuning_db::JobTask& task : active.job.tasks) {
      waiting = flow_.tasks().Find(KeyOf(task))->waiting;
      if (!waiting.empty()) break;
    }
    if (waiting == active.waiting) continue;
    const auto added = loop_.parts.store->AppendEvent(
        loop_.parts.ownership, id, "waiting", nlohmann::json({{"waiting", waiting}}).dump());
    if (!added.ok()) return loop_.Failed(added.status(), [this] { Pump(); });
    active.waiting = waiting;
  }
}

void TuningLoop::FinishJobs() {
  std::vector<int64_t> ended;
  for (const auto& [id, active] : jobs_) {
    const auto& tasks = active.job.tasks;
    const bool is_done = std::all_of(tasks.begin(), tasks.end(), [&](const auto& task) {
      return flow_.tasks().Find(KeyOf(task))->IsClosed();
    });
    if (!is_done || loop_.stopped) continue;
    const absl::Status finished = Finish(active);
    if (finished.ok()) {
      ended.push_back(id);
    } else {
      loop_.Failed(finished, [this] { Pump(); });
    }
  }
  for (const int64_t id : ended) Retire(id);
}

absl::Status TuningLoop::Finish(const ActiveJob& active) {
  int64_t failed = 0;
  bool is_short = false;
  std::string why;
  for (const tuning_db::JobTask& task : active.job.tasks) {
    const TaskRunner& runner = *flow_.tasks().Find(KeyOf(task));
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
  HONE_RETURN_IF_ERROR(
      loop_.parts.store->SetJobState(loop_.parts.ownership, active.job.id, state, message));
  CrashPoint("tuner.job_end.after");
  (state == JobState::kFailed ? failed_ : done_) += 1;
  spdlog::info("job {} is {}{}{}", active.job.id, tuning_db::Name(state),
               message.empty() ? "" : ": ", message);
  return absl::OkStatus();
}

}  // namespace hone::tuner
