// Trials: proposed, measured, settled.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "support/crash_point.h"
#include "support/random.h"
#include "support/status.h"
#include "tuner/jobs/regime.h"
#include "tuner/jobs/tuning_loop.h"
#include "tuner/measure_record.h"

namespace hone::tuner {

namespace v1 = hone::v1;
using tuning_db::Outcome;
using tuning_db::Purpose;
using tuning_db::SettleResult;
using tuning_db::Trial;
using tuning_db::TrialState;

namespace {

// The seed of the inputs that outputs are checked on. Constant: a worker keeps the reference
// outputs.
constexpr uint64_t kInputSeed = 1;

TaskView ViewOf(const TaskRunner& runner, int batch) {
  const TaskHistory& history = runner.history;
  TaskView view;
  view.priority = runner.priority();
  view.weight = 0;
  for (const Want& want : runner.wants) view.weight += want.task->weight;
  view.trials = history.count();
  view.open = history.open();
  view.best_ns = history.BestNs();
  view.earlier_best_ns = history.BestNsBefore(history.open() + batch);
  return view;
}

// How many trials a batch that begins after `begin` of them looks at. Where searches end early all:
// there are few, and other tasks keep builders and devices busy.
int64_t MarkOf(const Want& want, int64_t begin, int batch) {
  return want.EndsEarly() ? begin : begin - batch;
}

// Where searches end early the first batch is the default and the best of each other strategy: they
// say whether the task has something to win. Nothing: as large as any.
std::optional<int64_t> FirstBatchSize(const Want& want, const TaskContext& task, int64_t begin) {
  if (!want.EndsEarly() || begin > 0) return std::nullopt;
  return 1 + static_cast<int64_t>(task.alternatives().size());
}

std::string NoReference(const std::string& message) {
  return fmt::format("nothing of it can be checked, its reference does not run: {}", message);
}

Trial ToTrial(const PlannedTrial& planned, const TaskRunner& runner, const tuning_db::Job& job) {
  Trial trial;
  trial.task = runner.key.first;
  trial.signature = runner.key.second;
  trial.config = planned.config.ToText();
  trial.config_digest = planned.config.Digest();
  trial.nest_digest = planned.nest_digest;
  trial.purpose = PurposeOf(job);
  trial.round = runner.history.CancelledRounds(trial.config_digest);
  trial.job = job.id;
  return trial;
}

}  // namespace

// ---- proposing ----

bool TuningLoop::CanPropose(const TaskRunner& runner) const {
  if (runner.IsClosed() || !runner.is_served || runner.planning) return false;
  if (runner.final_run || runner.open_confirm) return false;
  const Want* want = runner.WhoWantsMore();
  if (want == nullptr || !want->IsJudgedAt(runner.history.count())) return false;
  // Without a reference nothing can be checked, and most that is proposed would only wait.
  if (runner.reference.state != SharedArtifact::State::kDone) return false;
  return runner.history.PrefixIsSettled(MarkOf(*want, runner.history.count(), options_.batch));
}

int64_t TuningLoop::MostOpen(const std::string& target) const {
  // What devices can hold, as much again that is on its way to them (proposed, built, leased: each
  // takes a commit or a build), and batches that are built meanwhile.
  const auto windows =
      static_cast<int64_t>(std::min<uint64_t>(parts_.measurer->Windows(target), uint64_t{1} << 20));
  const int64_t wanted = 2 * windows + int64_t{2} * options_.batch;
  return std::min<int64_t>(std::max<int64_t>(wanted, options_.least_open_trials),
                           options_.max_open_trials);
}

void TuningLoop::ProposeMore() {
  while (!(Alternates() && measure_phase_)) {
    std::map<std::string, int64_t> open;  // by target
    for (const auto& [key, runner] : runners_) {
      if (!runner->is_served) continue;
      open[runner->task.target] +=
          static_cast<int64_t>(runner->open.size()) + (runner->planning ? options_.batch : 0);
    }
    std::vector<TaskRunner*> able;
    std::vector<TaskView> views;
    for (const auto& [key, runner] : runners_) {
      if (!CanPropose(*runner)) continue;
      const std::string& target = runner->task.target;
      if (open[target] > 0 && open[target] + options_.batch > MostOpen(target)) continue;
      able.push_back(runner.get());
      views.push_back(ViewOf(*runner, options_.batch));
    }
    if (able.empty()) return;
    Plan(*able[parts_.scheduler->Pick(views)]);
  }
}

void TuningLoop::Plan(TaskRunner& runner) {
  const Want& want = *runner.WhoWantsMore();
  const tuning_db::Job& job = want.job->job;
  Search* search = parts_.search(job.search);
  if (search == nullptr) {
    FailTask(runner, fmt::format("there is no search \"{}\"", job.search));
    return;
  }
  const int64_t begin = runner.history.count();
  const int64_t size = FirstBatchSize(want, *runner.context, begin).value_or(options_.batch);
  const int64_t most = std::min<int64_t>(options_.batch, want.task->trials - begin);
  const int count = static_cast<int>(std::min(size, most));
  SearchState state = runner.history.StateAt(MarkOf(want, begin, options_.batch));
  state.task = runner.context.get();
  state.seed = Random(job.seed ^ Random(static_cast<uint64_t>(begin)).Next()).Next();
  std::set<std::string> nests;
  for (const auto& [id, entry] : runner.history.search()) nests.insert(entry.trial.nest_digest);
  runner.planning = true;
  ++planning_;
  parts_.planner->Post([this, key = runner.key, serial = runner.serial, id = job.id,
                        context = runner.context, search, state = std::move(state),
                        nests = std::move(nests), count] {
    BatchPlan plan = PlanBatch(*context, *search, state, nests, count);
    parts_.executor->Post([this, key, serial, id, plan = std::move(plan)]() mutable {
      OnPlanned({key, serial, id, std::move(plan)});
    });
  });
}

void TuningLoop::OnPlanned(PlannedBatch batch) {
  TaskRunner* const runner = Find(batch.key);
  // The plan of a runner that is gone says nothing of the one that took its place.
  const bool is_same = runner != nullptr && runner->serial == batch.serial;
  if (!is_same || stopped_ || runner->IsClosed() || jobs_.count(batch.job) == 0) {
    --planning_;
    if (is_same) runner->planning = false;
    return Pump();
  }
  // What was imported since the last batch is of the budget, too.
  const absl::Status caught_up = runner->CatchUp(*parts_.store);
  if (!caught_up.ok()) return Fatal(caught_up);
  BatchPlan& plan = batch.plan;
  const auto left = static_cast<size_t>(runner->LeftOfBudget());
  if (plan.trials.size() > left) {
    plan.trials.resize(left);
    plan.exhausted = false;
  }
  std::vector<Trial> trials;
  for (const PlannedTrial& planned : plan.trials) {
    trials.push_back(ToTrial(planned, *runner, jobs_.at(batch.job).job));
  }
  Propose("propose", std::move(trials),
          [this, batch = std::move(batch)](const std::vector<Trial>& rows) {
            OnProposed(batch, rows);
            Pump();
          });
}

void TuningLoop::Propose(std::string_view name, std::vector<Trial> trials,
                         std::function<void(const std::vector<Trial>&)> next) {
  CrashPoint(fmt::format("tuner.{}.before", name));
  const auto answer = [this, mailbox = mailbox_, name,
                       next = std::move(next)](absl::StatusOr<std::vector<Trial>> rows) {
    mailbox->Post([this, name, next, rows = std::move(rows)] {
      CrashPoint(fmt::format("tuner.{}.after", name));
      rows.ok() ? next(*rows) : Fatal(rows.status());
    });
  };
  const absl::Status begun = parts_.store->ProposeThen(tuning_db::Ownership(), trials, answer);
  if (!begun.ok()) answer(begun);
}

void TuningLoop::OnProposed(const PlannedBatch& batch, const std::vector<Trial>& rows) {
  TaskRunner* const runner = EndPlanning(batch.key, batch.serial);
  if (runner == nullptr || stopped_) return;
  runner->exhausted = batch.plan.exhausted;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Trial& row = rows[i];
    // One that was imported counts once it is noticed.
    if (row.state == TrialState::kSettled || runner->Has(row.id)) continue;
    runner->history.Proposed(row);
    if (batch.plan.trials[i].failure.empty()) {
      Adopt(*runner, row);
      continue;
    }
    runner->open[row.id] = row;
    const absl::Status settled =
        SettleFailure(row, Outcome::kInvalidConfig, batch.plan.trials[i].failure);
    if (!settled.ok()) return Fatal(settled);
  }
}

TaskRunner* TuningLoop::EndPlanning(const TaskKey& key, uint64_t serial) {
  --planning_;
  TaskRunner* const runner = Find(key);
  const bool is_same = runner != nullptr && runner->serial == serial;
  if (is_same) runner->planning = false;
  if (is_same && !runner->IsClosed()) return runner;
  if (!stopped_) AdoptOpenTrials();
  return nullptr;
}

void TuningLoop::Adopt(TaskRunner& runner, const Trial& trial) {
  runner.open[trial.id] = trial;
  if (trial.state != TrialState::kLeased) {
    QueueBuild(runner, trial);
    return;
  }
  MeasureRequest request = RequestFor(runner, trial);
  request.held = true;
  runner.measuring.insert(trial.id);
  parts_.measurer->Measure(std::move(request), SettleWith(runner.key, trial));
}

// ---- measuring ----

MeasureRequest TuningLoop::RequestFor(const TaskRunner& runner, const Trial& trial) const {
  MeasureRequest request;
  request.trial = trial;
  request.target = runner.task.target;
  request.reference = runner.reference.artifact;
  request.workload_digest = runner.task.workload_digest;
  request.seed = kInputSeed;
  request.threads = static_cast<uint32_t>(runner.context->threads());
  request.timing.set_chunk_ns(1'000'000);
  request.timing.set_regime(runner.history.regime());
  request.timing.set_rotation_bytes(static_cast<uint64_t>(runner.rotation_bytes));
  request.timing.set_min_chunks(10);
  request.timing.set_max_chunks(40);
  request.timing.set_warmup_ns(1'000'000);
  request.timing.set_stop_above_ns(options_.stop_above_best * runner.history.BestNs());
  request.run_limit_ns = options_.run_limit_ns;
  request.memory_limit_bytes = options_.memory_limit_bytes;
  request.priority = runner.priority();
  request.owner = fmt::format("job {}", trial.job);
  return request;
}

// Called by the measurer.
MeasureCallback TuningLoop::SettleWith(const TaskKey& key, const Trial& of_trial) {
  const bool calibrates = of_trial.purpose == Purpose::kCalibrate;
  return [this, key, trial = of_trial.id, job = of_trial.job, calibrates](
             const MeasureReport& report, const SettledCallback& settled) {
    if (report.kind == MeasureReport::Kind::kPoison) {
      parts_.executor->Post(
          [this, key, trial, message = report.message] { OnPoison(key, trial, message); });
      return;
    }
    if (report.kind == MeasureReport::Kind::kForeign) {
      parts_.executor->Post([this, job] { Disown(job); });
      return;
    }
    if (report.kind == MeasureReport::Kind::kSettled) {
      parts_.executor->Post([this, key] { OnSettledBefore(key); });
      return;
    }
    if (report.kind == MeasureReport::Kind::kLost || report.result.candidates_size() == 0) {
      parts_.executor->Post([this, key, trial] { OnLost(key, trial); });
      if (settled) settled(SettleResult::kRefused);
      return;
    }
    const int64_t now_ns = parts_.clock->WallTimeNs();
    const tuning_db::Record record = calibrates
                                         ? ToCalibration(report.result, report.worker, now_ns)
                                         : ToRecord(report.result, report.worker, now_ns);
    const v1::CandidateResult& result = report.result.candidates(0);
    const std::string failure =
        result.outcome() == v1::MEASURE_OUTCOME_NO_REFERENCE ? NoReference(result.message()) : "";
    Settle({.fence = report.fence, .record = record}, settled,
           [this, key, record, failure, trial](SettleResult how) {
             if (how == SettleResult::kRefused) return OnLost(key, trial);
             OnMeasured(key, record, failure);
           });
  };
}

void TuningLoop::Settle(tuning_db::Settlement settlement, const SettledCallback& settled,
                        std::function<void(SettleResult)> next) {
  const auto answer = [this, mailbox = mailbox_, settled,
                       next = std::move(next)](const absl::StatusOr<SettleResult>& how) {
    mailbox->Post([this, how, next] { how.ok() ? next(*how) : Fatal(how.status()); });
    settled(how);
  };
  const absl::Status begun = parts_.store->SettleMany(
      {std::move(settlement)},
      [answer](const tuning_db::TrialStore::SettleAnswers& answers) { answer(answers.at(0)); });
  if (!begun.ok()) answer(begun);
}

void TuningLoop::DispatchMeasurements() {
  const bool alternates = Alternates();
  if (alternates && !measure_phase_) {
    // All that can be built is built, before anything is measured.
    const bool is_building = builds_.open_batches() > 0 || builds_.HasWaiting(IsServed());
    const bool is_ready = std::any_of(
        to_measure_.begin(), to_measure_.end(),
        [is_served = IsServed()](const ReadyTrial& ready) { return is_served(ready.key); });
    if (is_building || planning_ > 0 || !is_ready) return;
    measure_phase_ = true;
  }
  std::deque<ReadyTrial> waiting;
  for (ReadyTrial& ready : std::exchange(to_measure_, {})) {
    TaskRunner& runner = *Find(ready.key);
    if (!runner.is_served || !runner.HasSharedArtifacts()) {
      waiting.push_back(std::move(ready));
    } else if (ready.trial.purpose == Purpose::kConfirm) {
      if (runner.final_run) MeasureFinal(runner, false);
    } else {
      MeasureTrial(runner, ready.trial, ready.artifact);
    }
  }
  to_measure_ = std::move(waiting);
  if (!IsMeasuring() || !alternates) measure_phase_ = false;
}

// In rounds (docs/decisions/0011), which are many and therefore short.
void TuningLoop::TimeBeside(const Artifact& anchor, MeasureRequest& request) const {
  if (!anchor.digest.empty()) request.candidates.push_back(anchor);
  request.rounds = static_cast<uint32_t>(options_.calibration_rounds);
  request.run_limit_ns *= options_.calibration_rounds;
  request.timing.set_chunk_ns(500'000);
  request.timing.set_warmup_ns(200'000);
  request.timing.set_min_chunks(1);
  request.timing.set_max_chunks(4);
  request.timing.set_stop_above_ns(0);
}

void TuningLoop::MeasureTrial(TaskRunner& runner, const Trial& trial, const Artifact& artifact) {
  MeasureRequest request = RequestFor(runner, trial);
  request.candidates.push_back(artifact);
  if (trial.purpose == Purpose::kCalibrate) {
    TimeBeside(runner.anchor.artifact, request);
  } else {
    request.anchor = runner.anchor.artifact;
  }
  runner.measuring.insert(trial.id);
  parts_.measurer->Measure(std::move(request), SettleWith(runner.key, trial));
}

void TuningLoop::EndMeasuring(const TaskKey& key, int64_t trial) {
  if (TaskRunner* runner = Find(key)) runner->measuring.erase(trial);
}

void TuningLoop::OnMeasured(const TaskKey& key, const tuning_db::Record& record,
                            const std::string& failure) {
  EndMeasuring(key, record.trial);
  if (TaskRunner* runner = Find(key)) {
    const auto it = runner->open.find(record.trial);
    if (it != runner->open.end()) {
      Emit(it->second.job);
      runner->open.erase(it);
    }
    runner->history.Settled(record);
    if (!failure.empty() && runner->failure.empty()) FailTask(*runner, failure);
  }
  Pump();
}

void TuningLoop::OnLost(const TaskKey& key, int64_t trial) {
  EndMeasuring(key, trial);
  if (TaskRunner* runner = Find(key)) {
    const auto it = runner->open.find(trial);
    if (it != runner->open.end()) QueueBuild(*runner, it->second);
  }
  Pump();
}

void TuningLoop::OnSettledBefore(const TaskKey& key) {
  tuning_db::RecordFilter filter;
  filter.task = key.first;
  filter.signature = key.second;
  const auto records = parts_.store->Records(filter);
  if (!records.ok()) return Fatal(records.status());
  if (TaskRunner* runner = Find(key)) {
    for (const tuning_db::Record& record : *records) {
      if (!tuning_db::IsProposed(record.of_trial.purpose)) continue;
      if (runner->open.erase(record.trial) > 0) EndMeasuring(key, record.trial);
      runner->history.Settled(record);
    }
  }
  Pump();
}

void TuningLoop::OnPoison(const TaskKey& key, int64_t trial, const std::string& message) {
  EndMeasuring(key, trial);
  TaskRunner* runner = Find(key);
  if (runner != nullptr) {
    const auto it = runner->open.find(trial);
    if (it != runner->open.end()) {
      const absl::Status settled = SettleFailure(it->second, Outcome::kDeviceLost, message);
      if (!settled.ok()) return Fatal(settled);
    }
  }
  Pump();
}

absl::Status TuningLoop::SettleFailure(Trial trial, Outcome outcome, const std::string& message,
                                       const std::string& toolchain) {
  tuning_db::Record record;
  record.trial = trial.id;
  record.outcome = outcome;
  record.message = message;
  record.toolchain = toolchain;
  record.wall_time_ns = parts_.clock->WallTimeNs();
  // The measurer may lease the trial in between; a newer lease wins.
  for (;;) {
    CrashPoint("tuner.settle_failure.before");
    const auto leased = parts_.store->Lease(trial.id, "");
    if (leased.status().code() == absl::StatusCode::kFailedPrecondition) break;  // settled
    if (!leased.ok()) return leased.status();
    CrashPoint("tuner.settle_failure.leased");
    HONE_ASSIGN_OR_RETURN(const SettleResult result, parts_.store->Settle(leased->fence, record));
    CrashPoint("tuner.settle_failure.after");
    if (result != SettleResult::kRefused) break;
  }
  if (TaskRunner* runner = Find({trial.task, trial.signature})) {
    runner->open.erase(trial.id);
    if (tuning_db::IsProposed(trial.purpose)) runner->history.Settled(record);
  }
  Emit(trial.job);
  return absl::OkStatus();
}

std::vector<Trial> TuningLoop::Forget(TaskRunner& runner) {
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
  std::erase_if(to_measure_, [&](const ReadyTrial& ready) { return ready.key == runner.key; });
  runner.measuring.clear();
  for (const Trial& trial : trials) parts_.measurer->Cancel(trial.id);
  return trials;
}

void TuningLoop::Abandon(TaskRunner& runner, const std::string& why) {
  for (const Trial& trial : Forget(runner)) {
    const absl::Status settled = SettleFailure(trial, Outcome::kCancelled, why);
    if (!settled.ok()) return Fatal(settled);
  }
}

}  // namespace hone::tuner
