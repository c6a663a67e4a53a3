#include "tuner/jobs/task_flow.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <utility>

#include "support/status.h"
#include "tuner/jobs/search_ends.h"
#include "tuner/jobs/task_state.h"
#include "tuner/one_line.h"

namespace hone::tuner {

using tuning_db::Outcome;
using tuning_db::Purpose;
using tuning_db::Trial;
using tuning_db::TrialState;

TaskFlow::TaskFlow(LoopContext& loop, ActiveJobs& jobs, Events events)
    : loop_(loop),
      jobs_(jobs),
      events_(std::move(events)),
      tasks_(loop_),
      proposer_(loop_),
      settler_(loop_, tasks_),
      builds_(loop_, tasks_, OfBuilds()),
      measures_(loop_, tasks_, settler_, OfMeasures()),
      finals_(loop_, tasks_, proposer_, settler_, builds_, measures_, OfFinals()),
      searches_(loop_, tasks_, jobs_, proposer_, settler_, OfSearches()) {}

// ---- how the stages hang together ----

template <typename Stage>
typename Stage::Events TaskFlow::EventsOf() {
  typename Stage::Events events;
  events.task_failed = [this](TaskRunner& runner, const std::string& why) {
    FailTask(runner, why);
  };
  events.changed = events_.changed;
  return events;
}

BuildStage::Events TaskFlow::OfBuilds() {
  auto events = EventsOf<BuildStage>();
  events.trial_built = [this](TaskRunner& runner, const Trial& trial, Artifact artifact) {
    measures_.Push(runner, trial, std::move(artifact));
  };
  events.trial_failed = [this](const Trial& trial, Outcome outcome, const std::string& message,
                               const std::string& toolchain) {
    settler_.SettleFailure(trial, {outcome, message, toolchain}, events_.changed);
  };
  events.finalists_built = [this](TaskRunner& runner) { finals_.OnFinalistsBuilt(runner); };
  return events;
}

MeasureStage::Events TaskFlow::OfMeasures() {
  auto events = EventsOf<MeasureStage>();
  events.final_ready = [this](TaskRunner& runner) { finals_.Measure(runner); };
  events.trial_lost = [this](TaskRunner& runner, const Trial& trial) {
    builds_.BuildTrial(runner, trial);
  };
  return events;
}

FinalStage::Events TaskFlow::OfFinals() {
  auto events = EventsOf<FinalStage>();
  events.orphaned = events_.orphaned;
  return events;
}

SearchStage::Events TaskFlow::OfSearches() {
  auto events = EventsOf<SearchStage>();
  events.proposed = [this](TaskRunner& runner, const Trial& trial) { Adopt(runner, trial); };
  events.orphaned = events_.orphaned;
  return events;
}

// ---- from state to state ----

void TaskFlow::Advance() {
  tasks_.DropParked();
  tasks_.SeeDevices();
  bool had_turn = false;
  do {
    had_turn = measures_.HasTurn();
    JudgeSearches(tasks_, jobs_, loop_.options.batch);
    for (auto& [key, runner] : tasks_.runners()) Advance(*runner);
    if (!tasks_.Alternates() || !measures_.HasTurn()) searches_.ProposeMore();
    if (!BuildersRest()) builds_.Dispatch();
    measures_.Dispatch(builds_.IsBusy() || searches_.IsPlanning() || finals_.IsProposing());
  } while (had_turn != measures_.HasTurn() && !loop_.stopped);
}

void TaskFlow::Advance(TaskRunner& runner) {
  switch (StateOf(runner)) {
    case TaskState::kSearching:
    case TaskState::kFinal:
      break;
    case TaskState::kFinalDue: {
      // One that a worker may still hold the result of is taken up before the worker is back.
      const bool is_held = runner.open_confirm && runner.open_confirm->state == TrialState::kLeased;
      if (!runner.is_served && !is_held) break;
      runner.open_confirm ? finals_.Begin(runner) : finals_.Propose(runner);
      break;
    }
    case TaskState::kFinished:
      return Close(runner);
    case TaskState::kClosed:
    case TaskState::kParked:
    case TaskState::kFailed:
      return;
  }
  if (runner.IsActive() && runner.is_served) builds_.NeedSharedArtifacts(runner);
}

bool TaskFlow::BuildersRest() const {
  if (tasks_.Alternates()) return measures_.HasTurn() || tasks_.IsMeasuring();
  return loop_.options.local_cores > 0 && tasks_.IsMeasuringFinal();
}

void TaskFlow::Adopt(TaskRunner& runner, const Trial& trial) {
  if (trial.purpose == Purpose::kConfirm) {
    runner.open_confirm = trial;
    return;
  }
  runner.history.Proposed(trial);
  runner.open[trial.id] = trial;
  if (trial.state == TrialState::kLeased) {
    measures_.Await(runner, trial);
  } else {
    builds_.BuildTrial(runner, trial);
  }
}

absl::Status TaskFlow::AwaitParked(const Trial& trial) {
  tuning_db::JobTask of;
  of.task = trial.task;
  of.signature = trial.signature;
  HONE_ASSIGN_OR_RETURN(TaskRunner* const runner, tasks_.Ensure(of));
  if (runner->Has(trial.id)) return absl::OkStatus();
  // What a final says follows from who wants it, and nobody does now: it is measured another time.
  if (trial.purpose == Purpose::kConfirm || !runner->failure.empty()) {
    settler_.Release(trial.id, trial.fence, nullptr, events_.changed);
    return absl::OkStatus();
  }
  runner->is_stale = true;
  Adopt(*runner, trial);
  return absl::OkStatus();
}

void TaskFlow::Close(TaskRunner& runner) {
  runner.closed = true;
  runner.reference = {};
  runner.anchor = {};
  runner.kept.Clear();
}

bool TaskFlow::CloseStranded(int64_t now_ns) {
  bool closed = false;
  for (auto& [key, runner] : tasks_.runners()) {
    if (!runner->IsActive() || runner->is_served || runner->HasTime()) continue;
    if (now_ns - runner->unserved_since_ns < loop_.options.device_grace_ns) continue;
    Abandon(*runner, "its job's time is up, and no device is there");
    Close(*runner);
    closed = true;
  }
  return closed;
}

bool TaskFlow::CancelLate(int64_t now_ns) {
  // Each settlement takes two commits, during which the loop does nothing else.
  constexpr size_t kMostAtOnce = 64;
  constexpr int64_t kSecondNs = 1'000'000'000;
  std::set<TaskKey> late;
  for (const auto& [key, runner] : tasks_.runners()) {
    const bool is_searching = StateOf(*runner) == TaskState::kSearching && !runner->open.empty();
    if (is_searching && runner->IsLate()) late.insert(key);
  }
  // What the store has refused is asked for once more anyway.
  if (late.empty() || now_ns < next_late_ns_ || loop_.HasFailed()) return false;
  const auto open = loop_.parts.store->OpenTrials(0);
  if (!open.ok()) {
    loop_.Failed(open.status(), [] { /* The next tick asks again. */ });
    return false;
  }
  std::vector<Trial> waiting;
  for (const Trial& trial : *open) {
    const TaskKey key(trial.task, trial.signature);
    const bool is_taken_up = late.contains(key) && tasks_.Find(key)->open.contains(trial.id);
    if (is_taken_up && trial.state == TrialState::kProposed) waiting.push_back(trial);
  }
  // No device takes any of them up while others are settled.
  for (const Trial& trial : waiting) {
    TaskRunner& runner = *tasks_.Find({trial.task, trial.signature});
    builds_.Drop(runner.key);
    measures_.Drop(runner.key);
    runner.ForgetBuilding();
    runner.measuring.erase(trial.id);
    loop_.parts.measurer->Cancel(trial.id);
  }
  if (waiting.size() <= kMostAtOnce) next_late_ns_ = now_ns + kSecondNs;
  for (size_t i = 0; i < std::min(waiting.size(), kMostAtOnce); ++i) {
    if (loop_.stopped || loop_.HasFailed()) break;
    CancelTrial(waiting[i], "its job's time is up");
  }
  return !waiting.empty();
}

void TaskFlow::FailTask(TaskRunner& runner, const std::string& what) {
  // A worker or a builder may have said it.
  const std::string why = OnOneLine(what);
  spdlog::error("task {} {}: {}", runner.key.first, runner.key.second, why);
  Abandon(runner, why);
  runner.failure = why;
}

void TaskFlow::Abandon(TaskRunner& runner, const std::string& why) {
  std::vector<Trial> trials;
  for (const auto& [id, open] : runner.open) trials.push_back(open);
  if (runner.final_run) {
    trials.push_back(runner.final_run->trial);
    runner.final_run.reset();
  } else if (runner.open_confirm) {
    trials.push_back(*runner.open_confirm);
  }
  runner.open_confirm.reset();
  builds_.Drop(runner.key);
  measures_.Drop(runner.key);
  runner.measuring.clear();
  for (const Trial& trial : trials) {
    loop_.parts.measurer->Cancel(trial.id);
    CancelTrial(trial, why);
  }
}

void TaskFlow::Park(const std::vector<TaskKey>& keys) {
  if (keys.empty()) return;
  const auto open = loop_.parts.store->OpenTrials(0);
  if (!open.ok()) {
    return loop_.Failed(open.status(), [this, keys] { Park(keys); });
  }
  std::set<int64_t> leased;
  for (const Trial& trial : *open) {
    if (trial.state == TrialState::kLeased) leased.insert(trial.id);
  }
  for (const TaskKey& key : keys) {
    TaskRunner* const runner = tasks_.Find(key);
    if (runner != nullptr && !runner->IsWanted()) Park(*runner, leased);
  }
}

void TaskFlow::Park(TaskRunner& runner, const std::set<int64_t>& leased) {
  for (const int64_t trial : runner.measuring) {
    if (!leased.contains(trial)) loop_.parts.measurer->Cancel(trial);
  }
  runner.KeepOnlyMeasuring(leased);
  builds_.Drop(runner.key);
  measures_.Drop(runner.key);
  tasks_.SetWaiting(runner, "");
}

void TaskFlow::CancelTrial(const Trial& trial, const std::string& why) {
  settler_.SettleFailure(trial, {Outcome::kCancelled, why});
}

}  // namespace hone::tuner
