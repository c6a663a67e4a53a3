#include "tuner/jobs/measure_stage.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/crash_point.h"
#include "tuner/input_seed.h"
#include "tuner/measure_record.h"
#include "tuner/trial_timing.h"

namespace hone::tuner {

namespace v1 = hone::v1;
using tuning_db::Outcome;
using tuning_db::Purpose;
using tuning_db::SettleResult;
using tuning_db::Trial;

namespace {

std::string NoReference(const std::string& message) {
  return fmt::format("nothing of it can be checked, its reference does not run: {}", message);
}

}  // namespace

// ---- what is asked for ----

void MeasureStage::Push(const TaskRunner& runner, const Trial& trial, Artifact artifact) {
  CrashPoint("tuner.artifact.before");
  queue_.push_back({runner.key, trial, std::move(artifact)});
  CrashPoint("tuner.artifact.after");
}

void MeasureStage::PushFinal(const TaskRunner& runner) {
  queue_.push_back({runner.key, runner.final_run->trial, {}});
}

void MeasureStage::Await(TaskRunner& runner, const Trial& trial) {
  MeasureRequest request = RequestFor(runner, trial);
  request.held = true;
  runner.measuring.insert(trial.id);
  loop_.parts.measurer->Measure(std::move(request), SettleWith(runner.key, trial));
}

void MeasureStage::Drop(const TaskKey& key) {
  std::erase_if(queue_, [&](const Ready& ready) { return ready.key == key; });
}

void MeasureStage::Dispatch(bool is_building) {
  const bool alternates = tasks_.Alternates();
  if (alternates && !has_turn_) {
    // All that can be built is built, before anything is measured.
    const bool is_ready = std::ranges::any_of(
        queue_,
        [is_served = tasks_.IsServed()](const Ready& ready) { return is_served(ready.key); });
    if (is_building || !is_ready) return;
    has_turn_ = true;
  }
  std::deque<Ready> waiting;
  for (Ready& ready : std::exchange(queue_, {})) {
    TaskRunner& runner = *tasks_.Find(ready.key);
    if (!runner.is_served || !runner.HasSharedArtifacts()) {
      waiting.push_back(std::move(ready));
    } else if (ready.trial.purpose == Purpose::kConfirm) {
      if (runner.final_run) events_.final_ready(runner);
    } else {
      Measure(runner, ready.trial, ready.artifact);
    }
  }
  queue_ = std::move(waiting);
  if (!tasks_.IsMeasuring() || !alternates) has_turn_ = false;
}

MeasureRequest MeasureStage::RequestFor(const TaskRunner& runner, const Trial& trial) const {
  MeasureRequest request;
  request.trial = trial;
  const DeviceNeed need = runner.Need(*loop_.parts.measurer);
  request.target = need.target;
  request.sandbox = need.sandbox;
  request.device_class = need.device_class;
  request.reference = runner.reference.artifact;
  request.workload_digest = runner.task.workload_digest;
  request.seed = kInputSeed;
  request.threads = static_cast<uint32_t>(runner.context->threads());
  request.timing = TrialTiming(runner.history.regime(), runner.rotation_bytes);
  request.timing.set_stop_above_ns(loop_.options.stop_above_best * runner.history.BestNs());
  request.run_limit_ns = loop_.options.run_limit_ns;
  request.memory_limit_bytes = loop_.options.memory_limit_bytes;
  request.priority = runner.priority();
  request.submitter = runner.submitter();
  request.job = runner.charged_job();
  return request;
}

void MeasureStage::Measure(TaskRunner& runner, const Trial& trial, const Artifact& artifact) {
  MeasureRequest request = RequestFor(runner, trial);
  request.candidates.push_back(artifact);
  if (trial.purpose == Purpose::kCalibrate) {
    TimeBeside(runner.anchor.artifact, request);
  } else {
    request.anchor = runner.anchor.artifact;
  }
  runner.measuring.insert(trial.id);
  loop_.parts.measurer->Measure(std::move(request), SettleWith(runner.key, trial));
}

// A calibration is timed in rounds beside its anchor (docs/decisions/0011), which are many and
// therefore short.
void MeasureStage::TimeBeside(const Artifact& anchor, MeasureRequest& request) const {
  if (!anchor.digest.empty()) request.candidates.push_back(anchor);
  request.rounds = static_cast<uint32_t>(loop_.options.calibration_rounds);
  request.run_limit_ns *= loop_.options.calibration_rounds;
  request.timing.set_chunk_ns(500'000);
  request.timing.set_warmup_ns(200'000);
  request.timing.set_min_chunks(1);
  request.timing.set_max_chunks(4);
  request.timing.set_stop_above_ns(0);
}

// ---- what came of it ----

MeasureCallback MeasureStage::SettleWith(const TaskKey& key, const Trial& of_trial) {
  const bool calibrates = of_trial.purpose == Purpose::kCalibrate;
  return [this, key, trial = of_trial.id, calibrates](const MeasureReport& report,
                                                      const SettledCallback& settled) {
    Executor& executor = *loop_.parts.executor;
    if (report.kind == MeasureReport::Kind::kPoison) {
      executor.Post(
          [this, key, trial, message = report.message] { OnPoison(key, trial, message); });
      return;
    }
    if (report.kind == MeasureReport::Kind::kForeign) {
      executor.Post([this, key, trial] { OnForeign(key, trial); });
      return;
    }
    if (report.kind == MeasureReport::Kind::kSettled) {
      executor.Post([this, key, trial] { OnSettledBefore(key, trial); });
      return;
    }
    if (report.kind == MeasureReport::Kind::kLost || report.result.candidates_size() == 0) {
      executor.Post([this, key, trial] { OnLost(key, trial); });
      if (settled) settled(SettleResult::kRefused);
      return;
    }
    const int64_t now_ns = loop_.parts.clock->WallTimeNs();
    const tuning_db::Record record = calibrates
                                         ? ToCalibration(report.result, report.worker, now_ns)
                                         : ToRecord(report.result, report.worker, now_ns);
    const v1::CandidateResult& result = report.result.candidates(0);
    const std::string failure =
        result.outcome() == v1::MEASURE_OUTCOME_NO_REFERENCE ? NoReference(result.message()) : "";
    settler_.Settle({.fence = report.fence, .record = record}, settled,
                    [this, key, record, failure, trial](SettleResult how) {
                      if (how == SettleResult::kRefused) return OnLost(key, trial);
                      OnMeasured(key, record, failure);
                    });
  };
}

void MeasureStage::EndMeasuring(const TaskKey& key, int64_t trial) {
  if (TaskRunner* runner = tasks_.Find(key)) runner->measuring.erase(trial);
}

void MeasureStage::OnMeasured(const TaskKey& key, const tuning_db::Record& record,
                              const std::string& failure) {
  EndMeasuring(key, record.trial);
  if (TaskRunner* runner = tasks_.Find(key)) {
    runner->open.erase(record.trial);
    runner->history.Settled(record);
    if (!failure.empty() && runner->failure.empty()) events_.task_failed(*runner, failure);
  }
  events_.changed();
}

void MeasureStage::OnLost(const TaskKey& key, int64_t trial) {
  EndMeasuring(key, trial);
  if (TaskRunner* runner = tasks_.Find(key)) {
    const auto it = runner->open.find(trial);
    if (it != runner->open.end()) {
      if (runner->IsWanted()) {
        events_.trial_lost(*runner, it->second);
      } else {
        runner->open.erase(it);  // it is proposed, and stays so until the task is wanted again
      }
    }
  }
  events_.changed();
}

void MeasureStage::OnForeign(const TaskKey& key, int64_t trial) {
  EndMeasuring(key, trial);
  if (TaskRunner* const runner = tasks_.Find(key)) runner->open.erase(trial);
  loop_.was_refused = true;
  events_.changed();
}

void MeasureStage::OnSettledBefore(const TaskKey& key, int64_t trial) {
  EndMeasuring(key, trial);
  settler_.SeeRecords(key);
  // A store that was migrated meanwhile refuses leases as well.
  const TaskRunner* const runner = tasks_.Find(key);
  if (runner != nullptr && runner->open.contains(trial)) loop_.was_refused = true;
  events_.changed();
}

void MeasureStage::OnPoison(const TaskKey& key, int64_t trial, const std::string& message) {
  EndMeasuring(key, trial);
  TaskRunner* runner = tasks_.Find(key);
  if (runner != nullptr) {
    const auto it = runner->open.find(trial);
    if (it != runner->open.end()) {
      settler_.SettleFailure(it->second, {Outcome::kDeviceLost, message}, events_.changed);
    }
  }
  events_.changed();
}

}  // namespace hone::tuner
