// Finals: the top few, the incumbent and the default in interleaved rounds.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "support/crash_point.h"
#include "support/digest.h"
#include "support/status.h"
#include "tuner/jobs/tuning_loop.h"
#include "tuner/measure_record.h"

namespace hone::tuner {

namespace v1 = hone::v1;
using tuning_db::FinalEntry;
using tuning_db::Outcome;
using tuning_db::Purpose;
using tuning_db::SettleResult;
using tuning_db::Trial;
using tuning_db::TrialState;

namespace {

// Leaves of a space are counted up to here; beyond it only "many" matters.
constexpr int64_t kCountLimit = 4096;

// A confirm trial's own record is that of the default; the rest is in the final.
tuning_db::Record ConfirmRecord(int64_t trial, const tuning_db::Final& final) {
  const FinalEntry& standard = final.entries[static_cast<size_t>(final.default_entry)];
  tuning_db::Record record;
  record.trial = trial;
  record.samples_ns = standard.round_ns;
  record.median_ns = standard.median_ns;
  record.anchor_ns = standard.median_ns;
  record.artifact_digest = standard.artifact_digest;
  record.toolchain = final.toolchain;
  record.device = final.device;
  record.wall_time_ns = final.wall_time_ns;
  return record;
}

}  // namespace

void TuningLoop::BeginFinalWhenDue(Runner& runner) {
  if (runner.final_run || runner.planning) return;
  if (!runner.open.empty() || runner.history.open() > 0) return;
  // A final that an earlier life of the daemon began is ended first: its entries follow from what
  // was settled then.
  if (!runner.open_confirm) {
    if (WhoWantsMore(runner)) return;
    if (runner.history.FinalIsCurrent()) {
      runner.closed = true;
      runner.reference = {};
      return;
    }
  }
  BeginFinal(runner);
}

void TuningLoop::BeginFinal(Runner& runner) {
  auto finalists = ChooseFinalists(*runner.context, runner.history, options_.final_top);
  if (!finalists.ok()) {
    FailTask(runner, std::string(finalists.status().message()));
    return;
  }
  FinalRun run;
  run.finalists = *std::move(finalists);
  if (runner.open_confirm) {
    run.trial = *runner.open_confirm;
    runner.open_confirm.reset();
  } else {
    const schedule::Config& standard = runner.context->default_config();
    run.trial.task = runner.key.first;
    run.trial.signature = runner.key.second;
    run.trial.config = standard.ToText();
    run.trial.config_digest = standard.Digest();
    run.trial.nest_digest = run.finalists.front().nest_digest;
    run.trial.purpose = Purpose::kConfirm;
    run.trial.round = runner.history.confirm_rounds();
    run.trial.job = WantsOf(runner).front().job->job.id;
    CrashPoint("tuner.propose_final.before");
    const auto rows = parts_.store->Propose({run.trial});
    CrashPoint("tuner.propose_final.after");
    if (!rows.ok()) return Fatal(rows.status());
    run.trial = rows->front();
  }
  const bool was_leased = run.trial.state == TrialState::kLeased;
  runner.final_run = std::move(run);
  if (runner.history.FinalIsCurrent()) {
    // The daemon was killed between the final and the end of its trial.
    const absl::Status settled = SettleConfirm(runner);
    if (!settled.ok()) return Fatal(settled);
    OnFinalSettled(runner.key, "");
  } else if (was_leased) {
    MeasureFinal(runner, true);
  } else {
    BuildFinalists(runner);
  }
}

absl::Status TuningLoop::SettleConfirm(const Runner& runner) {
  const int64_t trial = runner.final_run->trial.id;
  HONE_ASSIGN_OR_RETURN(const Trial leased, parts_.store->Lease(trial, ""));
  const tuning_db::Record record = ConfirmRecord(trial, *runner.history.final());
  return parts_.store->Settle(leased.fence, record).status();
}

void TuningLoop::BuildFinalists(Runner& runner) {
  FinalRun& run = *runner.final_run;
  run.built.clear();
  run.failure.clear();
  run.building = run.finalists.size();
  for (size_t i = run.finalists.size(); i-- > 0;) {
    BuildItem item;
    item.kind = BuildItem::Kind::kFinalist;
    item.key = runner.key;
    item.trial = run.trial.id;
    item.finalist = i;
    v1::BuildCandidate& candidate = *item.request.mutable_candidate();
    candidate.set_workload(runner.task.workload);
    candidate.set_signature(runner.key.second);
    candidate.set_config(run.finalists[i].config.ToText());
    candidate.set_nest_digest(run.finalists[i].nest_digest);
    item.request.set_target(runner.task.target);
    item.request.set_limit_ns(options_.build_limit_ns);
    to_build_.push_front(std::move(item));
  }
}

void TuningLoop::OnFinalistBuilt(Runner& runner, size_t finalist, const v1::BuildReply& reply) {
  FinalRun& run = *runner.final_run;
  --run.building;
  if (reply.outcome() == v1::BUILD_OUTCOME_OK) {
    Artifact artifact;
    artifact.bytes = std::make_shared<const std::string>(reply.artifact());
    artifact.digest =
        reply.artifact_digest().empty() ? Sha256Hex(reply.artifact()) : reply.artifact_digest();
    run.toolchain = reply.toolchain();
    run.built[finalist] = std::move(artifact);
  } else if (finalist == 0) {
    run.failure = reply.message();
  } else {
    spdlog::warn("config {} leaves its final, it cannot be built: {}",
                 run.finalists[finalist].config.ToText(), reply.message());
  }
  if (run.building > 0) return;
  if (!run.failure.empty()) {
    EndFinal(runner, Outcome::kBuildError,
             fmt::format("the default config cannot be built: {}", run.failure));
    return;
  }
  MeasureFinal(runner, false);
}

void TuningLoop::MeasureFinal(Runner& runner, bool held) {
  FinalRun& run = *runner.final_run;
  MeasureRequest request = RequestFor(runner, run.trial);
  request.held = held;
  request.rounds = static_cast<uint32_t>(options_.final_rounds);
  request.timing.set_min_chunks(5);
  request.timing.set_max_chunks(20);
  request.timing.set_stop_above_ns(0);
  request.priority += 1;  // builders wait for it
  std::vector<FinalEntry> entries;
  for (size_t i = 0; i < run.finalists.size(); ++i) {
    const auto built = run.built.find(i);
    if (!held && built == run.built.end()) continue;
    FinalEntry& entry = entries.emplace_back();
    entry.config = run.finalists[i].config.ToText();
    entry.nest_digest = run.finalists[i].nest_digest;
    if (built == run.built.end()) continue;
    entry.artifact_digest = built->second.digest;
    request.candidates.push_back(built->second);
  }
  MeasureCallback done = SettleFinalWith(runner, std::move(entries));
  if (!held) {
    to_measure_.push_back({std::move(request), std::move(done)});
    return;
  }
  measuring_.insert(run.trial.id);
  parts_.measurer->Measure(std::move(request), std::move(done));
}

// Called by the measurer. The final is committed before its trial is settled: a crash in between is
// seen at the restart by the final, which then is current.
MeasureCallback TuningLoop::SettleFinalWith(const Runner& runner, std::vector<FinalEntry> entries) {
  tuning_db::Final facts;
  facts.task = runner.key.first;
  facts.signature = runner.key.second;
  facts.job = runner.final_run->trial.job;
  facts.distinct_trials = runner.history.settled();
  // Many leaves may be one nest: a space that the search has used up is as large as what it gave.
  facts.space_size =
      runner.exhausted ? facts.distinct_trials : runner.context->space().Count(kCountLimit);
  facts.toolchain = runner.final_run->toolchain;
  return [this, key = runner.key, trial = runner.final_run->trial.id, facts,
          entries = std::move(entries)](const MeasureReport& report) {
    return SettleFinal(key, trial, facts, entries, report);
  };
}

absl::StatusOr<SettleResult> TuningLoop::SettleFinal(const TaskKey& key, int64_t trial,
                                                     const tuning_db::Final& facts,
                                                     const std::vector<FinalEntry>& entries,
                                                     const MeasureReport& report) {
  if (report.kind == MeasureReport::Kind::kPoison) {
    parts_.executor->Post([this, key, message = report.message] {
      Runner* runner = Find(key);
      if (runner != nullptr && runner->final_run) {
        EndFinal(*runner, Outcome::kDeviceLost, message);
      }
      Pump();
    });
    return SettleResult::kRefused;
  }
  if (report.kind == MeasureReport::Kind::kSettled) {
    parts_.executor->Post([this, key] {
      OnFinalSettled(key, "");
      Pump();
    });
    return SettleResult::kRefused;
  }
  absl::StatusOr<tuning_db::Final> judged =
      JudgeFinal(entries, report.result, options_.final_rounds);
  if (report.kind == MeasureReport::Kind::kLost ||
      judged.status().code() == absl::StatusCode::kFailedPrecondition) {
    parts_.executor->Post([this, key] { OnFinalLost(key); });
    return SettleResult::kRefused;
  }
  tuning_db::Record record = ToRecord(trial, report.result.candidates(0));
  record.toolchain = facts.toolchain;
  record.wall_time_ns = parts_.clock->WallTimeNs();
  if (judged.ok()) {
    judged->task = facts.task;
    judged->signature = facts.signature;
    judged->job = facts.job;
    judged->distinct_trials = facts.distinct_trials;
    judged->space_size = facts.space_size;
    judged->toolchain = facts.toolchain;
    judged->wall_time_ns = record.wall_time_ns;
    CrashPoint("tuner.final.before");
    const auto added = parts_.store->AddFinal(*judged);
    CrashPoint("tuner.final.after");
    if (!added.ok()) return added.status();
    record = ConfirmRecord(trial, *judged);
  }
  record.device = report.result.device_fingerprint();
  record.worker = report.worker;
  record.calibrator_ns = ToRecord(trial, report.result.candidates(0)).calibrator_ns;
  const auto settled = parts_.store->Settle(report.fence, record);
  parts_.executor->Post([this, key, settled, judged = judged.status()] {
    if (!settled.ok()) return Fatal(settled.status());
    if (*settled == SettleResult::kRefused) return OnFinalLost(key);
    OnFinalSettled(key, std::string(judged.message()));
    Pump();
  });
  return settled;
}

void TuningLoop::OnFinalSettled(const TaskKey& key, const std::string& failure) {
  Runner* runner = Find(key);
  if (runner == nullptr || !runner->final_run) return;
  EndMeasuring(runner->final_run->trial.id);
  const int64_t job = runner->final_run->trial.job;
  runner->final_run.reset();
  runner->history.ConfirmSettled();
  const absl::Status loaded = runner->history.ReloadFinal(*parts_.store);
  if (!loaded.ok()) return Fatal(loaded);
  if (!failure.empty()) FailTask(*runner, failure);
  Emit(job);
}

void TuningLoop::OnFinalLost(const TaskKey& key) {
  Runner* runner = Find(key);
  if (runner != nullptr && runner->final_run) {
    EndMeasuring(runner->final_run->trial.id);
    BuildFinalists(*runner);
  }
  Pump();
}

// The final did not come about, and would not if it were tried again.
void TuningLoop::EndFinal(Runner& runner, Outcome outcome, const std::string& why) {
  const absl::Status settled = SettleFailure(runner.final_run->trial, outcome, why);
  if (!settled.ok()) return Fatal(settled);
  OnFinalSettled(runner.key, why);
}

}  // namespace hone::tuner
