#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/status.h"
#include "tests/farm_simulator/job_layer.h"
#include "tuner/measure_record.h"

namespace hone::sim {

using tuner::Artifact;
using tuner::MeasureReport;
using tuner::MeasureRequest;
using tuning_db::Job;
using tuning_db::JobState;
using tuning_db::Outcome;
using tuning_db::Record;
using tuning_db::SettleResult;
using tuning_db::Trial;
using tuning_db::TrialState;

namespace {

constexpr int64_t kRunLimitNs = kSecond;
// The kind of the event that a job is being cancelled.
constexpr char kCancelling[] = "cancelling";

class DirectJobs final : public JobLayer {
 public:
  explicit DirectJobs(JobLayerParts parts) : parts_(std::move(parts)) {}

  void Resume() override {
    const auto jobs = parts_.store->Jobs();
    if (!Works(jobs.status())) return;
    for (const Job &job : *jobs) Begin(job);
  }

  void JobSubmitted(int64_t id) override {
    parts_.executor->Post([this, id] {
      const auto job = parts_.store->GetJob(id);
      if (Works(job.status())) Begin(*job);
    });
  }

  void CancelJob(int64_t id) override {
    parts_.executor->Post([this, id] {
      if (jobs_.count(id) == 0 || has_failed_) return;
      // The next life has to know, or it would have the rest measured.
      if (Works(parts_.store->AppendEvent(id, kCancelling, "{}").status())) Cancel(id);
    });
  }

  void Tick() override {
    for (const auto &again : std::exchange(later_, {})) again();
  }

 private:
  struct ActiveJob {
    Job job;
    std::set<int64_t> open;  // trials
    JobState end = JobState::kDone;
  };

  void Cancel(int64_t id) {
    ActiveJob &active = jobs_.at(id);
    active.end = JobState::kCancelled;
    for (const int64_t trial : active.open) {
      parts_.measurer->Cancel(trial);
      SettleFailure(id, trial, Outcome::kCancelled, "the job was cancelled");
    }
    EndIfDone(id);
  }

  // Whether the store did it. Where it did not, nothing more happens in this
  // life.
  bool Works(const absl::Status &status) {
    if (status.ok()) return !has_failed_;
    has_failed_ = true;
    parts_.on_fatal();
    return false;
  }

  // Whether the store took no more, and is asked again at the next tick.
  bool Waits(const absl::Status &begun, std::function<void()> again) {
    if (!absl::IsResourceExhausted(begun)) return false;
    later_.push_back(std::move(again));
    return true;
  }

  void Begin(const Job &job) {
    if (HasEnded(job.state) || jobs_.count(job.id) > 0 || has_failed_) return;
    if (job.state != JobState::kRunning &&
        !Works(parts_.store->SetJobState(job.id, JobState::kRunning, ""))) {
      return;
    }
    ActiveJob &active = jobs_[job.id];
    active.job = job;
    const auto rows = parts_.store->Propose(TrialsOf(job));
    if (!Works(rows.status())) return;
    for (const Trial &trial : *rows) {
      if (trial.state != TrialState::kSettled) active.open.insert(trial.id);
    }
    const auto events = parts_.store->ListEvents(job.id, 0, 0);
    if (!Works(events.status())) return;
    if (std::any_of(events->begin(), events->end(),
                    [](const auto &event) { return event.kind == kCancelling; })) {
      return Cancel(job.id);
    }
    for (const Trial &trial : *rows) {
      if (trial.state == TrialState::kSettled) continue;
      Measure(trial, trial.state == TrialState::kLeased);
    }
    EndIfDone(job.id);
  }

  static std::vector<Trial> TrialsOf(const Job &job) {
    std::vector<Trial> trials;
    for (const tuning_db::JobTask &task : job.tasks) {
      for (int64_t i = 0; i < task.trials; ++i) {
        Trial trial;
        trial.task = task.task;
        trial.signature = task.signature;
        trial.config = fmt::format("config {}", i);
        trial.config_digest = trial.config;
        trial.nest_digest = fmt::format("nest {}", i);
        trial.job = job.id;
        trials.push_back(std::move(trial));
      }
    }
    return trials;
  }

  void Measure(const Trial &trial, bool is_held) {
    const Job &job = jobs_.at(trial.job).job;
    MeasureRequest request;
    request.trial = trial;
    request.target = job.target;
    request.held = is_held;
    if (!is_held) {
      const std::string name = fmt::format("artifact of trial {}", trial.id);
      request.candidates.push_back({name, std::make_shared<const std::string>(name), "sim 1"});
    }
    request.workload_digest = "workload";
    request.timing.set_regime("warm");
    request.run_limit_ns = kRunLimitNs;
    request.priority = job.priority;
    request.submitter = job.client_id;
    parts_.measurer->Measure(
        std::move(request),
        [this, trial](const MeasureReport &report, const tuner::SettledCallback &settled) {
          OnReport(trial, report, settled);
        });
  }

  void OnReport(const Trial &trial, const MeasureReport &report,
                const tuner::SettledCallback &settled) {
    switch (report.kind) {
      case MeasureReport::Kind::kMeasured:
        Settle(trial, report, settled);
        break;
      case MeasureReport::Kind::kLost:
        Again(trial);
        break;
      case MeasureReport::Kind::kPoison:
        parts_.executor->Post([this, trial, message = report.message] {
          if (IsOpen(trial)) SettleFailure(trial.job, trial.id, Outcome::kDeviceLost, message);
        });
        break;
      case MeasureReport::Kind::kForeign:  // a simulation has one daemon at a time
      case MeasureReport::Kind::kSettled:
        parts_.executor->Post([this, trial] { Close(trial.job, trial.id); });
        break;
    }
  }

  void Settle(const Trial &trial, const MeasureReport &report,
              const tuner::SettledCallback &settled) {
    const Record record = tuner::ToRecord(report.result, report.worker, parts_.clock->WallTimeNs());
    const absl::Status begun = parts_.store->SettleMany(
        {{.fence = report.fence, .record = record}},
        [this, trial, settled](std::vector<absl::StatusOr<SettleResult>> answers) {
          settled(answers.at(0));
          parts_.executor->Post([this, trial, answer = answers.at(0)] {
            if (!Works(answer.status())) return;
            if (*answer == SettleResult::kRefused) {
              Again(trial);
            } else {
              Close(trial.job, trial.id);
            }
          });
        });
    if (Waits(begun, [this, trial, report, settled] { Settle(trial, report, settled); })) return;
    if (!begun.ok()) settled(begun);
  }

  void Again(const Trial &trial) {
    parts_.executor->Post([this, trial] {
      if (IsOpen(trial)) Measure(trial, false);
    });
  }

  // Leased by nobody, and settled as this, unless somebody was faster.
  void SettleFailure(int64_t job, int64_t trial, Outcome outcome, const std::string &message) {
    Record record;
    record.trial = trial;
    record.outcome = outcome;
    record.message = message;
    const absl::Status begun = parts_.store->LeaseMany(
        {{.trial = trial}}, [this, job, record](std::vector<absl::StatusOr<Trial>> answers) {
          parts_.executor->Post([this, job, record, leased = answers.at(0)] {
            if (absl::IsFailedPrecondition(leased.status())) return Close(job, record.trial);
            if (Works(leased.status())) SettleLeased(job, leased->fence, record);
          });
        });
    const auto again = [this, job, trial, outcome, message] {
      SettleFailure(job, trial, outcome, message);
    };
    if (!Waits(begun, again)) (void)Works(begun);
  }

  void SettleLeased(int64_t job, int64_t fence, const Record &record) {
    const absl::Status begun = parts_.store->SettleMany(
        {{.fence = fence, .record = record}},
        [this, job, record](std::vector<absl::StatusOr<SettleResult>> answers) {
          parts_.executor->Post([this, job, record, settled = answers.at(0)] {
            if (!Works(settled.status())) return;
            if (*settled != SettleResult::kRefused) return Close(job, record.trial);
            SettleFailure(job, record.trial, record.outcome, record.message);
          });
        });
    const auto again = [this, job, fence, record] { SettleLeased(job, fence, record); };
    if (!Waits(begun, again)) (void)Works(begun);
  }

  bool IsOpen(const Trial &trial) {
    const auto it = jobs_.find(trial.job);
    return !has_failed_ && it != jobs_.end() && it->second.end == JobState::kDone &&
           it->second.open.count(trial.id) > 0;
  }

  void Close(int64_t job, int64_t trial) {
    const auto it = jobs_.find(job);
    if (it == jobs_.end() || has_failed_ || it->second.open.erase(trial) == 0) return;
    EndIfDone(job);
  }

  void EndIfDone(int64_t job) {
    const ActiveJob &active = jobs_.at(job);
    if (active.open.empty()) End(job, active.end);
  }

  void End(int64_t job, JobState state) {
    if (Works(parts_.store->SetJobState(job, state, ""))) jobs_.erase(job);
  }

  const JobLayerParts parts_;
  std::map<int64_t, ActiveJob> jobs_;
  std::vector<std::function<void()>> later_;
  bool has_failed_ = false;
};

}  // namespace

std::unique_ptr<JobLayer> MakeDirectJobs(const JobLayerParts &parts) {
  return std::make_unique<DirectJobs>(parts);
}

hone::v1::MeasureResult MeasureDirectTrial(const hone::v1::Assignment &assignment, int64_t serial) {
  hone::v1::MeasureResult result;
  result.set_fence(assignment.fence());
  result.set_trial(assignment.trial());
  for (const hone::v1::Candidate &asked : assignment.candidates()) {
    hone::v1::CandidateResult &candidate = *result.add_candidates();
    candidate.set_artifact_digest(asked.artifact_digest());
    candidate.set_toolchain(asked.toolchain());
    candidate.set_regime(assignment.timing().regime());
    if (assignment.trial() % 13 == 0) {
      candidate.set_outcome(hone::v1::MEASURE_OUTCOME_CRASH);
      continue;
    }
    candidate.set_outcome(hone::v1::MEASURE_OUTCOME_OK);
    candidate.add_samples_ns(20'000 + static_cast<double>(serial));
    candidate.add_calibrator_ns(10'000);
  }
  return result;
}

}  // namespace hone::sim
