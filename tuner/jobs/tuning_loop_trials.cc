// Trials: proposed, built, measured, settled.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "support/crash_point.h"
#include "support/digest.h"
#include "support/random.h"
#include "support/status.h"
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

// Of the inputs that outputs are checked on. Constant: a worker keeps the reference outputs.
constexpr uint64_t kInputSeed = 1;

Outcome ToOutcome(v1::BuildOutcome outcome) {
  switch (outcome) {
    case v1::BUILD_OUTCOME_INVALID_CONFIG:
      return Outcome::kInvalidConfig;
    case v1::BUILD_OUTCOME_BUILD_TIMEOUT:
      return Outcome::kBuildTimeout;
    default:
      return Outcome::kBuildError;
  }
}

Artifact ToArtifact(const v1::BuildReply& reply) {
  Artifact artifact;
  artifact.bytes = std::make_shared<const std::string>(reply.artifact());
  artifact.digest =
      reply.artifact_digest().empty() ? Sha256Hex(reply.artifact()) : reply.artifact_digest();
  return artifact;
}

}  // namespace

// ---- proposing ----

bool TuningLoop::CanPropose(const Runner& runner) const {
  if (IsClosed(runner) || runner.planning || runner.final_run || runner.open_confirm) return false;
  if (runner.reference.digest.empty() || !WhoWantsMore(runner)) return false;
  return runner.history.PrefixIsSettled(runner.history.count() - options_.batch);
}

void TuningLoop::ProposeMore() {
  while (!(Alternates() && measure_phase_)) {
    int64_t open = int64_t{planning_} * options_.batch;
    std::vector<Runner*> able;
    std::vector<TaskView> views;
    for (const auto& [key, runner] : runners_) {
      open += static_cast<int64_t>(runner->open.size());
      if (!CanPropose(*runner)) continue;
      able.push_back(runner.get());
      const TaskHistory& history = runner->history;
      TaskView& view = views.emplace_back();
      const std::vector<Want> wants = WantsOf(*runner);
      view.priority = wants.front().job->job.priority;
      view.weight = 0;
      for (const Want& want : wants) view.weight += want.task->weight;
      view.trials = history.count();
      view.open = history.open();
      view.best_ns = history.BestNs();
      view.earlier_best_ns = history.BestNsBefore(history.open() + options_.batch);
    }
    if (able.empty() || (open > 0 && open + options_.batch > options_.max_open_trials)) return;
    Plan(*able[parts_.scheduler->Pick(views)]);
  }
}

void TuningLoop::Plan(Runner& runner) {
  const std::optional<Want> want = WhoWantsMore(runner);
  const tuning_db::Job& job = want->job->job;
  Search* search = parts_.search(job.search);
  if (search == nullptr) {
    FailTask(runner, fmt::format("there is no search \"{}\"", job.search));
    return;
  }
  const int64_t begin = runner.history.count();
  const int count = static_cast<int>(std::min<int64_t>(options_.batch, want->task->trials - begin));
  SearchState state = runner.history.StateAt(begin - options_.batch);
  state.task = runner.context.get();
  state.seed = Random(job.seed ^ Random(static_cast<uint64_t>(begin)).Next()).Next();
  std::set<std::string> nests;
  for (const auto& [id, entry] : runner.history.search()) nests.insert(entry.trial.nest_digest);
  runner.planning = true;
  ++planning_;
  parts_.planner->Post([this, key = runner.key, id = job.id, context = runner.context, search,
                        state = std::move(state), nests = std::move(nests), count] {
    BatchPlan plan = PlanBatch(*context, *search, state, nests, count);
    parts_.executor->Post(
        [this, key, id, plan = std::move(plan)]() mutable { OnPlanned(key, id, std::move(plan)); });
  });
}

void TuningLoop::OnPlanned(const TaskKey& key, int64_t job, BatchPlan plan) {
  --planning_;
  Runner* runner = Find(key);
  if (runner == nullptr || stopped_) return Pump();
  runner->planning = false;
  if (IsClosed(*runner) || jobs_.count(job) == 0) return Pump();
  runner->exhausted = plan.exhausted;
  std::vector<Trial> trials;
  for (const PlannedTrial& planned : plan.trials) {
    Trial& trial = trials.emplace_back();
    trial.task = key.first;
    trial.signature = key.second;
    trial.config = planned.config.ToText();
    trial.config_digest = planned.config.Digest();
    trial.nest_digest = planned.nest_digest;
    trial.purpose = Purpose::kSearch;
    trial.round = runner->history.CancelledRounds(trial.config_digest);
    trial.job = job;
  }
  CrashPoint("tuner.propose.before");
  const auto rows = parts_.store->Propose(trials);
  CrashPoint("tuner.propose.after");
  if (!rows.ok()) return Fatal(rows.status());
  for (size_t i = 0; i < rows->size(); ++i) {
    const Trial& row = (*rows)[i];
    if (row.state == TrialState::kSettled) continue;
    runner->history.Proposed(row);
    if (plan.trials[i].failure.empty()) {
      Adopt(*runner, row);
      continue;
    }
    runner->open[row.id] = row;
    const absl::Status settled =
        SettleFailure(row, Outcome::kInvalidConfig, plan.trials[i].failure);
    if (!settled.ok()) return Fatal(settled);
  }
  Pump();
}

void TuningLoop::Adopt(Runner& runner, const Trial& trial) {
  runner.open[trial.id] = trial;
  if (trial.state != TrialState::kLeased) {
    QueueBuild(runner, trial);
    return;
  }
  MeasureRequest request = RequestFor(runner, trial);
  request.held = true;
  measuring_.insert(trial.id);
  parts_.measurer->Measure(std::move(request), SettleWith(runner.key, trial.id, {}, ""));
}

// ---- building ----

void TuningLoop::NeedReference(Runner& runner) {
  if (!runner.reference.digest.empty() || runner.reference_building) return;
  runner.reference_building = true;
  BuildItem item;
  item.kind = BuildItem::Kind::kReference;
  item.key = runner.key;
  item.request.mutable_reference()->set_workload(runner.task.workload);
  item.request.set_target(runner.task.target);
  item.request.set_limit_ns(options_.build_limit_ns);
  to_build_.push_front(std::move(item));
}

void TuningLoop::QueueBuild(Runner& runner, const Trial& trial) {
  BuildItem item;
  item.kind = BuildItem::Kind::kTrial;
  item.key = runner.key;
  item.trial = trial.id;
  v1::BuildCandidate& candidate = *item.request.mutable_candidate();
  candidate.set_workload(runner.task.workload);
  candidate.set_signature(runner.key.second);
  candidate.set_config(trial.config);
  candidate.set_nest_digest(trial.nest_digest);
  item.request.set_target(runner.task.target);
  item.request.set_limit_ns(options_.build_limit_ns);
  to_build_.push_back(std::move(item));
}

void TuningLoop::DispatchBuilds() {
  const bool is_quiet = Alternates() ? measure_phase_ || !measuring_.empty()
                                     : options_.local_cores > 0 && !finals_measuring_.empty();
  while (!is_quiet && !to_build_.empty() &&
         static_cast<int>(left_of_batch_.size()) < options_.build_batches) {
    v1::BuildBatch batch;
    const uint64_t batch_id = next_build_;
    while (!to_build_.empty() && batch.requests_size() < options_.batch) {
      BuildItem item = std::move(to_build_.front());
      to_build_.pop_front();
      const uint64_t id = next_build_++;
      item.request.set_id(id);
      *batch.add_requests() = item.request;
      batch_of_[id] = batch_id;
      building_[id] = std::move(item);
    }
    left_of_batch_[batch_id] = batch.requests_size();
    CrashPoint("tuner.build.before");
    parts_.builder->Build(batch, [this](uint64_t id, absl::StatusOr<v1::BuildReply> reply) {
      parts_.executor->Post(
          [this, id, reply = std::move(reply)]() mutable { OnBuilt(id, std::move(reply)); });
    });
    CrashPoint("tuner.build.after");
  }
}

void TuningLoop::OnBuilt(uint64_t id, absl::StatusOr<v1::BuildReply> reply) {
  const auto it = building_.find(id);
  if (it == building_.end()) return;
  BuildItem item = std::move(it->second);
  building_.erase(it);
  const auto batch = batch_of_.find(id);
  if (--left_of_batch_[batch->second] == 0) left_of_batch_.erase(batch->second);
  batch_of_.erase(batch);
  if (stopped_) return;
  Runner* runner = Find(item.key);
  if (runner != nullptr && runner->failure.empty()) {
    if (!reply.ok()) {
      OnBuilderFailed(std::move(item), reply.status());
    } else if (item.kind == BuildItem::Kind::kReference) {
      OnReferenceBuilt(*runner, *reply);
    } else if (item.kind == BuildItem::Kind::kTrial) {
      OnTrialBuilt(*runner, item.trial, *reply);
    } else if (runner->final_run && runner->final_run->trial.id == item.trial) {
      OnFinalistBuilt(*runner, item.finalist, *reply);
    }
  }
  Pump();
}

void TuningLoop::OnBuilderFailed(BuildItem item, const absl::Status& status) {
  spdlog::warn("the builder failed: {}", status.ToString());
  if (++item.attempts < options_.builder_attempts) {
    to_build_.push_back(std::move(item));
    return;
  }
  FailTask(*Find(item.key), fmt::format("the builder failed {} times: {}", item.attempts,
                                        std::string(status.message())));
}

void TuningLoop::OnReferenceBuilt(Runner& runner, const v1::BuildReply& reply) {
  runner.reference_building = false;
  if (reply.outcome() != v1::BUILD_OUTCOME_OK) {
    FailTask(runner, fmt::format("its reference for the output check cannot be built: {}",
                                 reply.message()));
    return;
  }
  runner.reference = ToArtifact(reply);
  // What was built before it waits for it.
  for (ReadyTrial& ready : to_measure_) {
    if (ready.request.workload_digest == runner.task.workload_digest) {
      ready.request.reference = runner.reference;
    }
  }
}

void TuningLoop::OnTrialBuilt(Runner& runner, int64_t trial, const v1::BuildReply& reply) {
  const auto it = runner.open.find(trial);
  if (it == runner.open.end()) return;
  if (reply.outcome() != v1::BUILD_OUTCOME_OK) {
    const absl::Status settled =
        SettleFailure(it->second, ToOutcome(reply.outcome()), reply.message(), reply.toolchain());
    if (!settled.ok()) Fatal(settled);
    return;
  }
  CrashPoint("tuner.artifact.before");
  MeasureRequest request = RequestFor(runner, it->second);
  request.candidates.push_back(ToArtifact(reply));
  MeasureCallback done =
      SettleWith(runner.key, trial, request.candidates.back(), reply.toolchain());
  to_measure_.push_back({std::move(request), std::move(done)});
  CrashPoint("tuner.artifact.after");
}

// ---- measuring ----

MeasureRequest TuningLoop::RequestFor(const Runner& runner, const Trial& trial) const {
  MeasureRequest request;
  request.trial = trial;
  request.target = runner.task.target;
  request.reference = runner.reference;
  request.workload_digest = runner.task.workload_digest;
  request.seed = kInputSeed;
  request.threads = static_cast<uint32_t>(runner.context->threads());
  request.timing.set_chunk_ns(1'000'000);
  request.timing.set_min_chunks(10);
  request.timing.set_max_chunks(40);
  request.timing.set_warmup_ns(1'000'000);
  request.timing.set_stop_above_ns(options_.stop_above_best * runner.history.BestNs());
  request.run_limit_ns = options_.run_limit_ns;
  request.memory_limit_bytes = options_.memory_limit_bytes;
  const std::vector<Want> wants = WantsOf(runner);
  if (!wants.empty()) request.priority = wants.front().job->job.priority;
  return request;
}

MeasureCallback TuningLoop::SettleWith(const TaskKey& key, int64_t trial, Artifact artifact,
                                       const std::string& toolchain) {
  return [this, key, trial, digest = artifact.digest,
          toolchain](const MeasureReport& report) -> absl::StatusOr<SettleResult> {
    if (report.kind == MeasureReport::Kind::kPoison) {
      parts_.executor->Post(
          [this, key, trial, message = report.message] { OnPoison(key, trial, message); });
      return SettleResult::kRefused;
    }
    if (report.kind == MeasureReport::Kind::kSettled) {
      parts_.executor->Post([this, key] { OnSettledBefore(key); });
      return SettleResult::kRefused;
    }
    if (report.kind == MeasureReport::Kind::kLost || report.result.candidates_size() == 0) {
      parts_.executor->Post([this, key, trial] { OnLost(key, trial); });
      return SettleResult::kRefused;
    }
    tuning_db::Record record = ToRecord(trial, report.result.candidates(0));
    record.artifact_digest = digest;
    record.toolchain = toolchain;
    record.device = report.result.device_fingerprint();
    record.worker = report.worker;
    record.wall_time_ns = parts_.clock->WallTimeNs();
    const auto settled = parts_.store->Settle(report.fence, record);
    if (!settled.ok()) {
      parts_.executor->Post([this, status = settled.status()] { Fatal(status); });
    } else if (*settled == SettleResult::kRefused) {
      parts_.executor->Post([this, key, trial] { OnLost(key, trial); });
    } else {
      parts_.executor->Post([this, key, record] { OnMeasured(key, record); });
    }
    return settled;
  };
}

void TuningLoop::DispatchMeasurements() {
  const bool alternates = Alternates();
  if (alternates && !measure_phase_) {
    // All that can be built is built, before anything is measured.
    if (!building_.empty() || !to_build_.empty() || planning_ > 0 || to_measure_.empty()) return;
    measure_phase_ = true;
  }
  std::deque<ReadyTrial> waiting;
  for (ReadyTrial& ready : to_measure_) {
    if (ready.request.reference.digest.empty()) {
      waiting.push_back(std::move(ready));
      continue;
    }
    measuring_.insert(ready.request.trial.id);
    if (ready.request.rounds > 0) finals_measuring_.insert(ready.request.trial.id);
    parts_.measurer->Measure(std::move(ready.request), std::move(ready.done));
  }
  to_measure_ = std::move(waiting);
  if (measuring_.empty() || !alternates) measure_phase_ = false;
}

void TuningLoop::EndMeasuring(int64_t trial) {
  measuring_.erase(trial);
  finals_measuring_.erase(trial);
}

void TuningLoop::OnMeasured(const TaskKey& key, const tuning_db::Record& record) {
  EndMeasuring(record.trial);
  Runner* runner = Find(key);
  if (runner != nullptr) {
    const auto it = runner->open.find(record.trial);
    if (it != runner->open.end()) {
      Emit(it->second.job);
      runner->open.erase(it);
    }
    runner->history.Settled(record);
  }
  Pump();
}

void TuningLoop::OnLost(const TaskKey& key, int64_t trial) {
  EndMeasuring(trial);
  Runner* runner = Find(key);
  if (runner != nullptr) {
    const auto it = runner->open.find(trial);
    if (it != runner->open.end()) {
      QueueBuild(*runner, it->second);
    }
  }
  Pump();
}

void TuningLoop::OnSettledBefore(const TaskKey& key) {
  tuning_db::RecordFilter filter;
  filter.task = key.first;
  filter.signature = key.second;
  filter.purpose = Purpose::kSearch;
  const auto records = parts_.store->Records(filter);
  if (!records.ok()) return Fatal(records.status());
  if (Runner* runner = Find(key)) {
    for (const tuning_db::Record& record : *records) {
      if (runner->open.erase(record.trial) > 0) EndMeasuring(record.trial);
      runner->history.Settled(record);
    }
  }
  Pump();
}

void TuningLoop::OnPoison(const TaskKey& key, int64_t trial, const std::string& message) {
  EndMeasuring(trial);
  Runner* runner = Find(key);
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
  if (Runner* runner = Find({trial.task, trial.signature})) {
    runner->open.erase(trial.id);
    if (trial.purpose == Purpose::kSearch) runner->history.Settled(record);
  }
  Emit(trial.job);
  return absl::OkStatus();
}

void TuningLoop::Abandon(Runner& runner, const std::string& why) {
  std::vector<Trial> trials;
  for (const auto& [id, open] : runner.open) trials.push_back(open);
  if (runner.final_run) {
    trials.push_back(runner.final_run->trial);
    runner.final_run.reset();
  } else if (runner.open_confirm) {
    trials.push_back(*runner.open_confirm);
  }
  runner.open_confirm.reset();
  std::erase_if(to_build_, [&](const BuildItem& item) { return item.key == runner.key; });
  for (const Trial& trial : trials) {
    std::erase_if(to_measure_,
                  [&](const ReadyTrial& ready) { return ready.request.trial.id == trial.id; });
    EndMeasuring(trial.id);
    parts_.measurer->Cancel(trial.id);
    const absl::Status settled = SettleFailure(trial, Outcome::kCancelled, why);
    if (!settled.ok()) return Fatal(settled);
  }
}

}  // namespace hone::tuner
