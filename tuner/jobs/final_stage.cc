#include "tuner/jobs/final_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "support/crash_point.h"
#include "tuner/jobs/final_plan.h"
#include "tuner/jobs/round_limit.h"
#include "tuner/measure_record.h"

namespace hone::tuner {

using tuning_db::FinalEntry;
using tuning_db::Outcome;
using tuning_db::Purpose;
using tuning_db::SettleResult;
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
  return final && final->ended_share != runner.ShareOfFinal();
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

bool AllAreOfRegime(const hone::v1::MeasureResult& result, const std::string& regime) {
  return std::ranges::all_of(result.candidates(),
                             [&](const auto& candidate) { return candidate.regime() == regime; });
}

}  // namespace

// ---- it begins ----

void FinalStage::Propose(TaskRunner& runner) {
  const schedule::Config& standard = runner.context->default_config();
  const auto lowered = runner.context->Lower(standard);
  if (!lowered.ok()) return events_.task_failed(runner, std::string(lowered.status().message()));
  tuning_db::Trial trial;
  trial.task = runner.key.first;
  trial.signature = runner.key.second;
  trial.config = standard.ToText();
  trial.config_digest = standard.Digest();
  trial.nest_digest = lowered->nest_digest;
  trial.purpose = Purpose::kConfirm;
  trial.round = runner.history.confirm_rounds();
  trial.job = runner.wants.front().job->job.id;
  runner.planning = true;
  ++proposing_;
  proposer_.Propose("propose_final", {trial},
                    [this, key = runner.key, serial = runner.serial](
                        const absl::StatusOr<std::vector<tuning_db::Trial>>& rows) {
                      --proposing_;
                      if (rows.ok()) {
                        OnProposed(key, serial, rows->front());
                      } else {
                        tasks_.EndPlanning(key, serial);
                        loop_.Failed(rows.status(), events_.changed);
                      }
                      events_.changed();
                    });
}

void FinalStage::OnProposed(const TaskKey& key, uint64_t serial, const tuning_db::Trial& trial) {
  TaskRunner* const runner = tasks_.EndPlanning(key, serial);
  if (loop_.stopped) return;
  if (runner == nullptr) return events_.orphaned();
  // One that is settled by now says so when the final is begun.
  if (!runner->Has(trial.id)) runner->open_confirm = trial;
}

void FinalStage::Begin(TaskRunner& runner) {
  auto finalists =
      ChooseFinalists(*runner.context, runner.history, FinalTop(runner, loop_.options.final_top));
  if (!finalists.ok()) {
    return events_.task_failed(runner, std::string(finalists.status().message()));
  }
  FinalRun run;
  run.finalists = *std::move(finalists);
  run.settled = runner.history.settled();
  run.trial = *runner.open_confirm;
  runner.open_confirm.reset();
  const bool was_leased = run.trial.state == TrialState::kLeased;
  runner.final_run = std::move(run);
  if (was_leased) {
    Measure(runner, /*held=*/true);
  } else {
    BuildFinalists(runner);
  }
}

// ---- building ----

void FinalStage::BuildFinalists(TaskRunner& runner) {
  if (!builds_.BuildFinalists(runner)) OnFinalistsBuilt(runner);
}

void FinalStage::OnFinalistsBuilt(TaskRunner& runner) {
  const FinalRun& run = *runner.final_run;
  if (run.failure.empty()) return measures_.PushFinal(runner);
  End(runner, Outcome::kBuildError,
      fmt::format("the default config cannot be built: {}", run.failure));
}

// ---- measuring ----

MeasureRequest FinalStage::RequestFor(const TaskRunner& runner) const {
  MeasureRequest request = measures_.RequestFor(runner, runner.final_run->trial);
  request.rounds = static_cast<uint32_t>(loop_.options.final_rounds);
  // Chunks are short, for the number of rounds counts and not theirs (docs/decisions/0011).
  request.timing.set_chunk_ns(500'000);
  request.timing.set_warmup_ns(500'000);
  request.timing.set_min_chunks(3);
  request.timing.set_max_chunks(12);
  request.timing.set_stop_above_ns(0);
  request.run_limit_ns =
      RoundsLimitNs(request.timing, loop_.options.final_rounds, loop_.options.run_limit_ns,
                    SlowestRunNs(runner.final_run->finalists, runner.history));
  request.priority += 1;  // builders wait for it
  return request;
}

void FinalStage::Measure(TaskRunner& runner, bool held) {
  FinalRun& run = *runner.final_run;
  ++run.attempts;
  MeasureRequest request = RequestFor(runner);
  run.regime = request.timing.regime();
  request.held = held;
  Facts facts = FactsOf(runner);
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
  loop_.parts.measurer->Measure(std::move(request),
                                [this, facts = std::move(facts)](const MeasureReport& report,
                                                                 const SettledCallback& settled) {
                                  Settle(facts, report, settled);
                                });
}

FinalStage::Facts FinalStage::FactsOf(const TaskRunner& runner) const {
  const FinalRun& run = *runner.final_run;
  Facts facts;
  facts.key = runner.key;
  facts.trial = run.trial.id;
  facts.final.task = runner.key.first;
  facts.final.signature = runner.key.second;
  facts.final.job = run.trial.job;
  facts.final.distinct_trials = runner.history.settled();
  // Many leaves may be one nest: a space that the search has used up is as large as what it gave.
  facts.final.space_size =
      runner.exhausted ? runner.history.settled() : runner.context->space().Count(kCountLimit);
  facts.final.ended_share = runner.ShareOfFinal();
  facts.may_repeat = run.attempts < loop_.options.final_attempts;
  return facts;
}

// ---- settling ----

void FinalStage::Settle(const Facts& facts, const MeasureReport& report,
                        const SettledCallback& settled) {
  if (report.kind == MeasureReport::Kind::kPoison) {
    loop_.parts.executor->Post(
        [this, key = facts.key, trial = facts.trial, message = report.message] {
          TaskRunner* runner = Find(key, trial);
          if (runner != nullptr) End(*runner, Outcome::kDeviceLost, message);
          events_.changed();
        });
    return;
  }
  if (report.kind == MeasureReport::Kind::kForeign) {
    loop_.parts.executor->Post([this, key = facts.key, trial = facts.trial] {
      if (TaskRunner* const runner = Find(key, trial)) {
        runner->measuring.erase(trial);
        runner->final_run.reset();
      }
      loop_.was_refused = true;
      events_.changed();
    });
    return;
  }
  if (report.kind == MeasureReport::Kind::kSettled) {
    loop_.parts.executor->Post([this, key = facts.key, trial = facts.trial] {
      OnSettled(key, trial, "");
      events_.changed();
    });
    return;
  }
  if (HasToRepeat(facts, report)) {
    return settler_.Release(facts.trial, report.fence, settled,
                            [this, key = facts.key, trial = facts.trial] { OnLost(key, trial); });
  }
  const int rounds = loop_.options.final_rounds;
  absl::StatusOr<tuning_db::Final> judged =
      JudgeFinal(facts.final, facts.entries, report.result, rounds);
  const int64_t wall_time_ns = loop_.parts.clock->WallTimeNs();
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
  settler_.Settle(std::move(settlement), settled,
                  [this, key = facts.key, trial = facts.trial, failure](SettleResult how) {
                    CrashPoint("tuner.final.after");
                    if (how == SettleResult::kRefused) return OnLost(key, trial);
                    OnSettled(key, trial, failure);
                    events_.changed();
                  });
}

bool FinalStage::HasToRepeat(const Facts& facts, const MeasureReport& report) const {
  if (report.kind == MeasureReport::Kind::kLost) return true;
  if (static_cast<size_t>(report.result.candidates_size()) != facts.entries.size()) return true;
  if (!facts.held_regime.empty() && !AllAreOfRegime(report.result, facts.held_regime)) return true;
  return facts.may_repeat && MissesRounds(report.result, loop_.options.final_rounds);
}

void FinalStage::OnSettled(const TaskKey& key, int64_t trial, const std::string& failure) {
  TaskRunner* runner = Find(key, trial);
  if (runner == nullptr) return;
  measures_.EndMeasuring(key, trial);
  const std::string regime = runner->final_run->regime;
  // One that failed leaves the final before it as that was.
  const absl::Status loaded =
      failure.empty() ? runner->history.ReloadFinal(*loop_.parts.store, regime) : absl::OkStatus();
  if (!loaded.ok()) {
    return loop_.Failed(loaded, [=, this] {
      OnSettled(key, trial, failure);
      events_.changed();
    });
  }
  const bool has_new_trials = runner->history.settled() > runner->final_run->settled;
  runner->final_run.reset();
  runner->history.ConfirmSettled();
  if (!failure.empty()) {
    events_.task_failed(*runner, failure);
  } else if (runner->NeedsFinal() && !has_new_trials && !HasEndedSince(*runner) &&
             regime == runner->history.regime()) {
    events_.task_failed(*runner, WhyFinalDoesNotCount(*runner));
  }
}

void FinalStage::OnLost(const TaskKey& key, int64_t trial) {
  if (TaskRunner* runner = Find(key, trial)) {
    measures_.EndMeasuring(key, trial);
    if (!runner->IsWanted()) {
      runner->final_run.reset();  // the next who wants the task goes on with it
    } else if (runner->final_run->built.empty()) {
      BuildFinalists(*runner);
    } else {
      measures_.PushFinal(*runner);
    }
  }
  events_.changed();
}

void FinalStage::End(TaskRunner& runner, Outcome outcome, const std::string& why) {
  const tuning_db::Trial& trial = runner.final_run->trial;
  settler_.SettleFailure(trial, {outcome, why}, [this, key = runner.key, trial = trial.id, why] {
    OnSettled(key, trial, why);
    events_.changed();
  });
}

TaskRunner* FinalStage::Find(const TaskKey& key, int64_t trial) {
  TaskRunner* runner = tasks_.Find(key);
  const bool is_it = runner != nullptr && runner->final_run && runner->final_run->trial.id == trial;
  return is_it ? runner : nullptr;
}

}  // namespace hone::tuner
