#include "tuner/jobs/search_stage.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "support/random.h"
#include "tuner/priority_weight.h"

namespace hone::tuner {

using tuning_db::Outcome;
using tuning_db::Trial;
using tuning_db::TrialState;

namespace {

// What a submitter has of the devices of a target.
struct SubmitterShare {
  int64_t open = 0;   // trials
  double weight = 0;  // of the greatest priority that it waits with
};

// What is open on devices that meet one need.
struct OpenTrials {
  int64_t count = 0;
  std::map<std::string, SubmitterShare> shares;  // by submitter
};

// A task whose devices are there.
struct Candidate {
  TaskRunner* runner;
  const DeviceNeed* need;
  OpenTrials* open;  // of its need
};

// Whether a batch more would be too many. One is let in where none is open.
bool IsFull(int64_t open, int batch, int64_t most) { return open > 0 && open + batch > most; }

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

// How many trials a batch that begins after `begin` of them looks at. Where searches end early it
// looks at all: there are few, and other tasks keep builders and devices busy.
int64_t MarkOf(const Want& want, int64_t begin, int batch) {
  return want.EndsEarly() ? begin : begin - batch;
}

// Where searches end early the first batch is the default and the best of each other strategy: they
// say whether the task has something to win. nullopt: it is as large as any.
std::optional<int64_t> FirstBatchSize(const Want& want, const TaskContext& task, int64_t begin) {
  if (!want.EndsEarly() || begin > 0) return std::nullopt;
  return 1 + static_cast<int64_t>(task.alternatives().size());
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

// ---- whose turn it is ----

bool SearchStage::CanPropose(const TaskRunner& runner) const {
  if (!runner.IsActive() || !runner.is_served || runner.planning) return false;
  if (runner.final_run || runner.open_confirm) return false;
  const Want* want = runner.WhoWantsMore();
  if (want == nullptr || !want->IsJudgedAt(runner.history.count())) return false;
  // Without a reference nothing can be checked, and most that is proposed would only wait.
  if (runner.reference.state != SharedArtifact::State::kDone) return false;
  return runner.history.PrefixIsSettled(MarkOf(*want, runner.history.count(), loop_.options.batch));
}

int64_t SearchStage::MostOpen(const DeviceNeed& need) const {
  // What devices can hold, as much again that is on its way to them (proposed, built, leased: each
  // takes a commit or a build), and batches that are built meanwhile.
  const TuningOptions& options = loop_.options;
  const auto windows = static_cast<int64_t>(
      std::min<uint64_t>(loop_.parts.measurer->Windows(need), uint64_t{1} << 20));
  const int64_t wanted = 2 * windows + int64_t{2} * options.batch;
  return std::min<int64_t>(std::max<int64_t>(wanted, options.least_open_trials),
                           options.max_open_trials);
}

void SearchStage::ProposeMore() {
  while (TaskRunner* runner = Choose()) Plan(*runner);
}

TaskRunner* SearchStage::Choose() {
  const int batch = loop_.options.batch;
  std::map<DeviceNeed, OpenTrials> open;
  std::map<std::string, int64_t> open_of;  // by submitter
  std::vector<Candidate> served;
  served.reserve(tasks_.runners().size());
  for (const auto& [key, runner] : tasks_.runners()) {
    if (!runner->is_served) continue;
    const int64_t of_runner =
        static_cast<int64_t>(runner->open.size()) + (runner->planning ? batch : 0);
    auto& [need, of_need] = *open.try_emplace(runner->Need(*loop_.parts.measurer)).first;
    of_need.count += of_runner;
    of_need.shares[runner->submitter()].open += of_runner;
    open_of[runner->submitter()] += of_runner;
    served.push_back({runner.get(), &need, &of_need});
  }
  std::vector<Candidate> able;
  for (const Candidate& candidate : served) {
    const TaskRunner& runner = *candidate.runner;
    if (IsFull(candidate.open->count, batch, MostOpen(*candidate.need))) continue;
    const int64_t most_of_one = loop_.options.most_open_of_one;
    if (most_of_one > 0 && IsFull(open_of[runner.submitter()], batch, most_of_one)) continue;
    if (!CanPropose(runner)) continue;
    able.push_back(candidate);
    SubmitterShare& share = candidate.open->shares[runner.submitter()];
    share.weight = std::max(share.weight, PriorityWeight(runner.priority()));
  }
  if (able.empty()) return nullptr;
  std::vector<TaskView> views;
  for (const Candidate& candidate : able) {
    const SubmitterShare& share = candidate.open->shares[candidate.runner->submitter()];
    views.push_back(ViewOf(*candidate.runner, batch));
    views.back().share = static_cast<double>(share.open) / share.weight;
    views.back().submitter_turn = turns_.OfSubmitter(*candidate.runner);
    views.back().job_turn = turns_.OfJob(*candidate.runner);
  }
  return able[loop_.parts.scheduler->Pick(views)].runner;
}

// ---- planning ----

void SearchStage::Plan(TaskRunner& runner) {
  const Want& want = *runner.WhoWantsMore();
  const tuning_db::Job& job = want.job->job;
  Search* search = loop_.parts.search(job.search);
  if (search == nullptr) {
    return events_.task_failed(runner, fmt::format("there is no search \"{}\"", job.search));
  }
  const int batch = loop_.options.batch;
  const int64_t begin = runner.history.count();
  const int64_t size = FirstBatchSize(want, *runner.context, begin).value_or(batch);
  const int64_t most = std::min<int64_t>(batch, want.task->trials - begin);
  const int count = static_cast<int>(std::min(size, most));
  SearchState state = runner.history.StateAt(MarkOf(want, begin, batch));
  state.task = runner.context.get();
  state.seed = Random(job.seed ^ Random(static_cast<uint64_t>(begin)).Next()).Next();
  std::set<std::string> nests;
  for (const auto& [id, entry] : runner.history.search()) nests.insert(entry.trial.nest_digest);
  runner.planning = true;
  ++planning_;
  turns_.Took(runner, jobs_);
  loop_.parts.planner->Post([this, key = runner.key, serial = runner.serial, id = job.id, begin,
                             context = runner.context, search, state = std::move(state),
                             nests = std::move(nests), count] {
    BatchPlan plan = PlanBatch(*context, *search, state, nests, count);
    loop_.parts.executor->Post([this, key, serial, id, begin, plan = std::move(plan)]() mutable {
      OnPlanned({key, serial, id, begin, std::move(plan)});
    });
  });
}

void SearchStage::OnPlanned(PlannedBatch batch) {
  TaskRunner* const runner = tasks_.Find(batch.key);
  // The plan of a runner that is gone says nothing of the one that took its place.
  const bool is_same = runner != nullptr && runner->serial == batch.serial;
  const auto job = jobs_.find(batch.job);
  if (!is_same || loop_.stopped || runner->IsClosed() || job == jobs_.end()) {
    --planning_;
    if (is_same) runner->planning = false;
    return events_.changed();
  }
  // Trials that were imported since the last batch count towards the budget, too, as does one that
  // was settled while this daemon took the job over.
  const absl::Status caught_up = runner->CatchUp(*loop_.parts.store);
  if (!caught_up.ok()) {
    return loop_.Failed(caught_up, [this, batch = std::move(batch)] { OnPlanned(batch); });
  }
  // A batch follows from the trials before it, whatever happened meanwhile.
  if (runner->history.count() != batch.begin) {
    spdlog::info("task {} {}: a batch is planned anew, for there are {} trials and not {}",
                 batch.key.first, batch.key.second, runner->history.count(), batch.begin);
    --planning_;
    runner->planning = false;
    return events_.changed();
  }
  BatchPlan& plan = batch.plan;
  const auto left = static_cast<size_t>(runner->LeftOfBudget());
  if (plan.trials.size() > left) {
    plan.trials.resize(left);
    plan.exhausted = false;
  }
  std::vector<Trial> trials;
  for (const PlannedTrial& planned : plan.trials) {
    trials.push_back(ToTrial(planned, *runner, job->second.job));
  }
  proposer_.Propose(
      "propose", std::move(trials),
      [this, batch = std::move(batch)](const absl::StatusOr<std::vector<Trial>>& rows) {
        --planning_;
        if (rows.ok()) {
          OnProposed(batch, *rows);
        } else {
          tasks_.EndPlanning(batch.key, batch.serial);
          loop_.Failed(rows.status(), events_.changed);
        }
        events_.changed();
      });
}

void SearchStage::OnProposed(const PlannedBatch& batch, const std::vector<Trial>& rows) {
  TaskRunner* const runner = tasks_.EndPlanning(batch.key, batch.serial);
  if (loop_.stopped) return;
  if (runner == nullptr) return events_.orphaned();
  runner->exhausted = batch.plan.exhausted;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Trial& row = rows[i];
    // A trial that was imported counts once CatchUp notices it.
    if (row.state == TrialState::kSettled || runner->Has(row.id)) continue;
    if (batch.plan.trials[i].failure.empty()) {
      events_.proposed(*runner, row);
      continue;
    }
    runner->history.Proposed(row);
    runner->open[row.id] = row;
    settler_.SettleFailure(row, {Outcome::kInvalidConfig, batch.plan.trials[i].failure},
                           events_.changed);
  }
}

}  // namespace hone::tuner
