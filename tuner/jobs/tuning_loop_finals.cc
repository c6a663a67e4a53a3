// Finals: the top few, the incumbent and the default in interleaved rounds.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "support/crash_point.h"
#include "support/status.h"
#include "tuner/jobs/round_limit.h"
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
tuning_db::Record ConfirmRecord(const MeasureReport& report, const tuning_db::Final& final) {
  const FinalEntry& standard = final.entries[static_cast<size_t>(final.default_entry)];
  tuning_db::Record record = ToRecord(report.result, report.worker, final.wall_time_ns);
  record.samples_ns = standard.round_ns;
  record.median_ns = standard.median_ns;
  record.anchor_ns = standard.median_ns;
  return record;
}

// The record of a final that has no winner: never a success, for a success stands beside a final.
tuning_db::Record FailedRecord(const MeasureReport& report, const std::string& why,
                               int64_t wall_time_ns) {
  tuning_db::Record record = ToRecord(report.result, report.worker, wall_time_ns);
  record.message = why;
  record.median_ns = 0;
  if (record.outcome == Outcome::kOk) record.outcome = Outcome::kRunTimeout;
  return record;
}

// Whether its search was found to have ended while the newest final was measured: the next final
// says so.
bool HasEndedSince(const TaskRunner& runner) {
  const std::optional<tuning_db::Final>& final = runner.history.final();
  return final && final->ended_share != runner.EndedShare();
}

// Half as many finalists where the task takes so little of the models' time that the second half
// could hardly matter: nothing is built or measured besides while a final is.
int FinalTop(const TaskRunner& runner, int usual) {
  constexpr double kSmallShare = 0.02;
  const double share = runner.EndedShare();
  return share > 0 && share < kSmallShare ? (usual + 1) / 2 : usual;
}

// A final that was settled and is not current, though nothing was measured meanwhile, would be run
// for ever. It is a fault of ours, and the task says so instead.
std::string WhyFinalDoesNotCount(const TaskRunner& runner) {
  const std::optional<tuning_db::Final>& final = runner.history.final();
  return fmt::format(
      "its final was settled and does not count, and would not if it were run again: expected one "
      "that compares the default config {}, found {}; this is a fault of Hone, please report it",
      runner.context->default_config().ToText(),
      final ? final->entries[static_cast<size_t>(final->default_entry)].config : "none");
}

}  // namespace

void TuningLoop::BeginFinalWhenDue(TaskRunner& runner) {
  if (runner.final_run || runner.planning) return;
  if (!runner.open.empty() || runner.history.open() > 0) return;
  // A final that an earlier life of the daemon began is ended first: its entries follow from what
  // was settled then.
  if (!runner.open_confirm) {
    if (runner.WhoWantsMore() != nullptr) return;
    if (!runner.NeedsFinal()) {
      runner.closed = true;
      runner.reference = {};
      runner.anchor = {};
      runner.kept.Clear();
      return;
    }
  }
  // One that a worker may still hold the result of is taken up before the worker is back.
  const bool is_held = runner.open_confirm && runner.open_confirm->state == TrialState::kLeased;
  if (!runner.is_served && !is_held) return;
  runner.open_confirm ? BeginFinal(runner) : ProposeFinal(runner);
}

void TuningLoop::ProposeFinal(TaskRunner& runner) {
  const schedule::Config& standard = runner.context->default_config();
  const auto lowered = runner.context->Lower(standard);
  if (!lowered.ok()) return FailTask(runner, std::string(lowered.status().message()));
  Trial trial;
  trial.task = runner.key.first;
  trial.signature = runner.key.second;
  trial.config = standard.ToText();
  trial.config_digest = standard.Digest();
  trial.nest_digest = lowered->nest_digest;
  trial.purpose = Purpose::kConfirm;
  trial.round = runner.history.confirm_rounds();
  trial.job = runner.wants.front().job->job.id;
  runner.planning = true;
  ++planning_;
  Propose("propose_final", {trial},
          [this, key = runner.key, serial = runner.serial](const std::vector<Trial>& rows) {
            TaskRunner* const same = EndPlanning(key, serial);
            // What is settled by now says so when the final is begun anew.
            if (same != nullptr && !same->Has(rows.front().id)) same->open_confirm = rows.front();
            Pump();
          });
}

// Its confirm trial is open.
void TuningLoop::BeginFinal(TaskRunner& runner) {
  auto finalists =
      ChooseFinalists(*runner.context, runner.history, FinalTop(runner, options_.final_top));
  if (!finalists.ok()) {
    FailTask(runner, std::string(finalists.status().message()));
    return;
  }
  FinalRun run;
  run.finalists = *std::move(finalists);
  run.settled = runner.history.settled();
  run.trial = *runner.open_confirm;
  runner.open_confirm.reset();
  const bool was_leased = run.trial.state == TrialState::kLeased;
  runner.final_run = std::move(run);
  if (was_leased) {
    MeasureFinal(runner, true);
  } else {
    BuildFinalists(runner);
  }
}

void TuningLoop::BuildFinalists(TaskRunner& runner) {
  FinalRun& run = *runner.final_run;
  run.built.clear();
  run.failure.clear();
  run.building = 0;
  for (size_t i = run.finalists.size(); i-- > 0;) {
    const PlannedTrial& finalist = run.finalists[i];
    if (const Artifact* kept = runner.kept.Find(finalist.nest_digest)) {
      run.built[i] = *kept;
      continue;
    }
    ++run.building;
    BuildItem item = NewBuild(runner, BuildItem::Kind::kFinalist, finalist.config.ToText(),
                              finalist.nest_digest);
    item.trial = run.trial.id;
    item.finalist = i;
    builds_.PushFront(std::move(item));
  }
  if (run.building == 0) OnFinalistsBuilt(runner);
}

namespace {

bool AllAreOfRegime(const hone::v1::MeasureResult& result, const std::string& regime) {
  return std::all_of(result.candidates().begin(), result.candidates().end(),
                     [&](const auto& candidate) { return candidate.regime() == regime; });
}

}  // namespace

void TuningLoop::MeasureFinal(TaskRunner& runner, bool held) {
  FinalRun& run = *runner.final_run;
  ++run.attempts;
  MeasureRequest request = RequestFor(runner, run.trial);
  request.held = held;
  request.rounds = static_cast<uint32_t>(options_.final_rounds);
  // Rounds count, chunks do not (docs/decisions/0011): short ones.
  request.timing.set_chunk_ns(500'000);
  request.timing.set_warmup_ns(500'000);
  request.timing.set_min_chunks(3);
  request.timing.set_max_chunks(12);
  request.timing.set_stop_above_ns(0);
  request.run_limit_ns = RoundsLimitNs(request.timing, options_.final_rounds, options_.run_limit_ns,
                                       SlowestRunNs(run.finalists, runner.history));
  request.priority += 1;  // builders wait for it
  FinalFacts facts = FactsOf(runner);
  if (held) facts.held_regime = runner.history.regime();
  for (size_t i = 0; i < run.finalists.size(); ++i) {
    const auto built = run.built.find(i);
    if (!held && built == run.built.end()) continue;
    FinalEntry& entry = facts.entries.emplace_back();
    entry.config = run.finalists[i].config.ToText();
    entry.nest_digest = run.finalists[i].nest_digest;
    if (built != run.built.end()) request.candidates.push_back(built->second);
  }
  runner.measuring.insert(run.trial.id);
  parts_.measurer->Measure(std::move(request),
                           [this, facts = std::move(facts)](const MeasureReport& report,
                                                            const SettledCallback& settled) {
                             SettleFinal(facts, report, settled);
                           });
}

TuningLoop::FinalFacts TuningLoop::FactsOf(const TaskRunner& runner) const {
  const FinalRun& run = *runner.final_run;
  FinalFacts facts;
  facts.key = runner.key;
  facts.trial = run.trial.id;
  facts.final.task = runner.key.first;
  facts.final.signature = runner.key.second;
  facts.final.job = run.trial.job;
  facts.final.distinct_trials = runner.history.settled();
  // Many leaves may be one nest: a space that the search has used up is as large as what it gave.
  facts.final.space_size =
      runner.exhausted ? runner.history.settled() : runner.context->space().Count(kCountLimit);
  facts.final.ended_share = runner.EndedShare();
  facts.may_repeat = run.attempts < options_.final_attempts;
  return facts;
}

void TuningLoop::SettleFinal(const FinalFacts& facts, const MeasureReport& report,
                             const SettledCallback& settled) {
  if (report.kind == MeasureReport::Kind::kPoison) {
    parts_.executor->Post([this, key = facts.key, trial = facts.trial, message = report.message] {
      TaskRunner* runner = FindFinal(key, trial);
      if (runner != nullptr) EndFinal(*runner, Outcome::kDeviceLost, message);
      Pump();
    });
    return;
  }
  if (report.kind == MeasureReport::Kind::kForeign) {
    parts_.executor->Post([this, job = facts.final.job] { Disown(job); });
    return;
  }
  if (report.kind == MeasureReport::Kind::kSettled) {
    parts_.executor->Post([this, key = facts.key, trial = facts.trial] {
      OnFinalSettled(key, trial, "");
      Pump();
    });
    return;
  }
  const bool is_odd =
      static_cast<size_t>(report.result.candidates_size()) != facts.entries.size() ||
      (!facts.held_regime.empty() && !AllAreOfRegime(report.result, facts.held_regime));
  if (report.kind == MeasureReport::Kind::kLost || is_odd ||
      (facts.may_repeat && MissesRounds(report.result, options_.final_rounds))) {
    return RepeatFinal(facts, report, settled);
  }
  absl::StatusOr<tuning_db::Final> judged =
      JudgeFinal(facts.final, facts.entries, report.result, options_.final_rounds);
  const int64_t wall_time_ns = parts_.clock->WallTimeNs();
  const std::string failure(judged.status().message());
  tuning_db::Settlement settlement;
  settlement.fence = report.fence;
  if (judged.ok()) {
    judged->wall_time_ns = wall_time_ns;
    settlement.record = ConfirmRecord(report, *judged);
    settlement.final = *judged;
  } else {
    settlement.record = FailedRecord(report, failure, wall_time_ns);
  }
  CrashPoint("tuner.final.before");
  Settle(std::move(settlement), settled,
         [this, key = facts.key, trial = facts.trial, failure](SettleResult how) {
           CrashPoint("tuner.final.after");
           if (how == SettleResult::kRefused) return OnFinalLost(key, trial);
           OnFinalSettled(key, trial, failure);
           Pump();
         });
}

// Back to proposed at once: a result that comes late under the old fence settles nothing.
void TuningLoop::RepeatFinal(const FinalFacts& facts, const MeasureReport& report,
                             const SettledCallback& settled) {
  const absl::Status begun = parts_.store->ReleaseMany(
      {{.trial = facts.trial, .fence = report.fence}},
      [this, mailbox = mailbox_, settled, key = facts.key,
       trial = facts.trial](const tuning_db::TrialStore::ReleaseAnswers& answers) {
        if (!answers.at(0).ok()) {
          spdlog::warn("final of trial {}: {}", trial, answers.at(0).status().ToString());
        }
        mailbox->Post([this, key, trial] { OnFinalLost(key, trial); });
        if (settled) settled(SettleResult::kRefused);
      });
  if (begun.ok()) return;
  parts_.executor->Post([this, begun] { Fatal(begun); });
  if (settled) settled(begun);
}

void TuningLoop::OnFinalSettled(const TaskKey& key, int64_t trial, const std::string& failure) {
  TaskRunner* runner = FindFinal(key, trial);
  if (runner == nullptr) return;
  EndMeasuring(key, trial);
  const int64_t job = runner->final_run->trial.job;
  const bool has_new_trials = runner->history.settled() > runner->final_run->settled;
  runner->final_run.reset();
  runner->history.ConfirmSettled();
  const absl::Status loaded = runner->history.ReloadFinal(*parts_.store);
  if (!loaded.ok()) return Fatal(loaded);
  if (!failure.empty()) {
    FailTask(*runner, failure);
  } else if (runner->NeedsFinal() && !has_new_trials && !HasEndedSince(*runner)) {
    FailTask(*runner, WhyFinalDoesNotCount(*runner));
  }
  Emit(job);
}

void TuningLoop::OnFinalLost(const TaskKey& key, int64_t trial) {
  if (TaskRunner* runner = FindFinal(key, trial)) {
    EndMeasuring(key, trial);
    if (runner->final_run->built.empty()) {
      BuildFinalists(*runner);
    } else {
      to_measure_.push_back({key, runner->final_run->trial, {}});
    }
  }
  Pump();
}

TaskRunner* TuningLoop::FindFinal(const TaskKey& key, int64_t trial) {
  TaskRunner* runner = Find(key);
  const bool is_it = runner != nullptr && runner->final_run && runner->final_run->trial.id == trial;
  return is_it ? runner : nullptr;
}

// The final did not come about, and would not if it were tried again.
void TuningLoop::EndFinal(TaskRunner& runner, Outcome outcome, const std::string& why) {
  const absl::Status settled = SettleFailure(runner.final_run->trial, outcome, why);
  if (!settled.ok()) return Fatal(settled);
  OnFinalSettled(runner.key, runner.final_run->trial.id, why);
}

}  // namespace hone::tuner
