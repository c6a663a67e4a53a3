// The tuning loop: from jobs to settled records and finals.
//
// For each task of a job: propose a batch, build it, have it measured, until the task's budget or
// space is used up; then run its final. What comes next is always derived from the store, so a
// daemon that was killed at any instruction goes on where it stopped:
//   - A batch that begins with trial n is a function of the first n - batch settled trials and of
//     the configs of the others. It is proposed in one transaction, before anything is built.
//     While one batch is measured the next can be built.
//     Of a job whose searches end early it is a function of the first n, and so is whether it is
//     proposed at all, with the first trials of all tasks of the job.
//   - An open trial is built again (proposed), or waited for and then built again (leased).
//   - A task with no open trial and a met budget needs a final, unless it has one that is current.
// A task whose target no connected device has waits: nothing is proposed or built for it, and it
// takes nothing from the others. Its job says so.
#ifndef HONE_TUNER_JOBS_TUNING_LOOP_H_
#define HONE_TUNER_JOBS_TUNING_LOOP_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/clock.h"
#include "tuner/builder.h"
#include "tuner/executor.h"
#include "tuner/jobs/batch_plan.h"
#include "tuner/jobs/build_queue.h"
#include "tuner/jobs/final_plan.h"
#include "tuner/jobs/task_runner.h"
#include "tuner/lowerer.h"
#include "tuner/mailbox.h"
#include "tuner/measurer.h"
#include "tuner/search.h"
#include "tuner/task_scheduler/task_scheduler.h"
#include "tuning_db/store.h"

namespace hone::tuner {

struct TuningOptions {
  int batch = 8;  // trials proposed at once
  // Proposed and not settled, over the tasks of one target that a device serves: enough for what
  // its devices can hold and what is built meanwhile, within these bounds.
  int least_open_trials = 24;
  int max_open_trials = 4096;
  int build_batches = 2;  // handed to the builder at once
  int final_top = 8;      // trials in a final, beside incumbent and default
  int final_rounds = 11;
  int final_attempts = 3;       // of a final with rounds that could not be timed
  int calibration_rounds = 15;  // of a config and its task's default, in turns
  double stop_above_best = 4;   // candidates slower than this many times the best stop early
  // A measurement with at least so many threads is not overlapped with building or training; they
  // alternate in batches. 0: always overlapped (all workers are on other machines).
  int local_cores = 0;
  int64_t build_limit_ns = 20'000'000'000;
  int64_t run_limit_ns = 10'000'000'000;  // of one candidate; a final's: of each round
  uint64_t memory_limit_bytes = uint64_t{4} << 30;
  int builder_attempts = 5;  // of a request that fails through no fault of its candidate
  int64_t save_ran_ns =
      5'000'000'000;  // how often the running time of a job with a limit is stored
  // A job whose time is up does not wait longer than this for a device to run its finals.
  int64_t device_grace_ns = 30'000'000'000;
};

// All outlive the loop; both executors have stopped or drained when it is destroyed.
struct TuningParts {
  tuning_db::Store* store = nullptr;
  Lowerer* lowerer = nullptr;
  Builder* builder = nullptr;
  Measurer* measurer = nullptr;
  TaskScheduler* scheduler = nullptr;
  const Clock* clock = nullptr;
  Executor* executor = nullptr;  // the loop's own
  Executor* planner = nullptr;   // where searches run
  // nullptr: there is no search of this name.
  std::function<Search*(const std::string& name)> search;
  // Set in a private daemon: jobs that it finds in the store are others' (decision 0014).
  bool is_private = false;
  // Something happened to the job: it has new events. From any thread.
  std::function<void(int64_t job)> on_event;
  // What the task waits for from now on; empty: for nothing. From the loop's executor.
  std::function<void(int64_t task, const std::string& signature, const std::string& what)>
      on_waiting;
  // The store fails: the loop has stopped, and only a restart goes on. From the loop's executor.
  std::function<void(absl::Status)> on_fatal;
};

class TuningLoop {
 public:
  TuningLoop(TuningOptions options, TuningParts parts)
      : options_(std::move(options)),
        parts_(std::move(parts)),
        mailbox_(std::make_shared<Mailbox>(parts_.executor)) {}
  ~TuningLoop() { mailbox_->Close(); }

  // These post to the loop's executor, and may be called from any thread.
  // Cancels what private daemons left, and takes up every job that has not ended; one of a private
  // daemon leaves those to a service. To be called first, before workers are served.
  void Resume();
  // The job was submitted to the store.
  void JobSubmitted(int64_t job);
  // The job's state is `cancelled` when `done` is called.
  void CancelJob(int64_t job, std::function<void(absl::Status)> done);
  // A few times a second, and when devices come or go: deadlines, who is served.
  void Tick();
  // Nothing new is proposed, built or measured from here on.
  void Stop();

 private:
  struct ReadyTrial {
    TaskKey key;
    tuning_db::Trial trial;
    Artifact artifact;  // of a search trial; those of a final are with its run
  };
  // A batch whose search is done.
  struct PlannedBatch {
    TaskKey key;
    uint64_t serial = 0;  // of its runner
    int64_t job = 0;
    BatchPlan plan;
  };
  // What the measurer's thread must know to settle a final.
  struct FinalFacts {
    TaskKey key;
    int64_t trial = 0;
    tuning_db::Final final;  // without what is measured
    std::vector<tuning_db::FinalEntry> entries;
    bool may_repeat = false;
    // Set for one that a worker holds from before a restart: its plan may have been another.
    std::string held_regime;
  };

  // ---- jobs (tuning_loop.cc) ----
  void DoResume();
  void DoTick();
  void Activate(int64_t job);
  TaskRunner* EnsureRunner(const tuning_db::JobTask& task);
  void AdoptOpenTrials();
  void DoCancel(int64_t job, const std::function<void(absl::Status)>& done);
  // The job wants nothing any more.
  void Retire(int64_t job);
  // It is another daemon's by now: nothing is done or written for it here any more.
  void Disown(int64_t job);
  void SaveRan(ActiveJob& active, int64_t now_ns);
  bool SeeDeadlines(int64_t now_ns);
  // Whether a task is served now that was not, or the other way round.
  bool SeeDevices();
  // What tasks and jobs wait for, where that has changed.
  void AnnounceWaiting();
  void SetWaiting(TaskRunner& runner, const std::string& what);
  // Tasks that have neither time nor device are closed without a final.
  bool CloseStranded(int64_t now_ns);
  void FinishJobs();
  void Finish(const ActiveJob& active);
  void FailTask(TaskRunner& runner, const std::string& why);
  void Emit(int64_t job) const;
  // Everything that can be done is begun, once what has come so far has been dealt with: many
  // results that come together are looked at together.
  void Pump();
  void DoPump();

  // ---- what is built (tuning_loop_builds.cc) ----
  BuildItem NewBuild(const TaskRunner& runner, BuildItem::Kind kind) const;
  BuildItem NewBuild(const TaskRunner& runner, BuildItem::Kind kind, const std::string& config,
                     const std::string& nest_digest) const;
  void NeedSharedArtifacts(TaskRunner& runner);
  // Or has it measured at once, where its artifact is kept.
  void QueueBuild(TaskRunner& runner, const tuning_db::Trial& trial);
  void DispatchBuilds();
  void OnBuilt(uint64_t id, absl::StatusOr<hone::v1::BuildReply> reply);
  void KeepArtifact(TaskRunner& runner, const hone::v1::BuildRequest& request,
                    const absl::StatusOr<hone::v1::BuildReply>& reply);
  void OnBuilderFailed(BuildItem item, const absl::Status& status);
  void OnReferenceBuilt(TaskRunner& runner, const hone::v1::BuildReply& reply);
  void OnAnchorBuilt(TaskRunner& runner, const hone::v1::BuildReply& reply);
  void OnTrialBuilt(TaskRunner& runner, int64_t trial, const hone::v1::BuildReply& reply);

  // ---- ends before the budget (tuning_loop_ends.cc) ----
  // Whether more trials are worth it, of every task without open trials that a job whose searches
  // end early wants.
  void JudgeSearches();
  void Judge(const TaskRunner& runner, Want& want);
  // What the job's models take with defaults; nothing: not every task has a first trial yet.
  std::optional<double> ModelsNs(const ActiveJob& active) const;

  // ---- trials (tuning_loop_trials.cc) ----
  void ProposeMore();
  // Open trials that the target's devices are worth.
  int64_t MostOpen(const std::string& target) const;
  bool CanPropose(const TaskRunner& runner) const;
  void Plan(TaskRunner& runner);
  void OnPlanned(PlannedBatch batch);
  // Goes on with `next` on the loop's executor once the rows are durable; the loop stops where the
  // store fails. It does not wait: other proposals, leases and settlements share the commit.
  void Propose(std::string_view name, std::vector<tuning_db::Trial> trials,
               std::function<void(const std::vector<tuning_db::Trial>&)> next);
  void OnProposed(const PlannedBatch& batch, const std::vector<tuning_db::Trial>& rows);
  // The runner for which something was proposed; nullptr where it is gone or wants it no more, and
  // then what is open of it has gone to whom it belongs to.
  TaskRunner* EndPlanning(const TaskKey& key, uint64_t serial);
  void Adopt(TaskRunner& runner, const tuning_db::Trial& trial);
  MeasureRequest RequestFor(const TaskRunner& runner, const tuning_db::Trial& trial) const;
  MeasureCallback SettleWith(const TaskKey& key, const tuning_db::Trial& trial);
  // On any thread. Tells the measurer, then goes on with `next` on the loop's executor; the loop
  // stops where the store fails.
  void Settle(tuning_db::Settlement settlement, const SettledCallback& settled,
              std::function<void(tuning_db::SettleResult)> next);
  void DispatchMeasurements();
  void TimeBeside(const Artifact& anchor, MeasureRequest& request) const;
  void MeasureTrial(TaskRunner& runner, const tuning_db::Trial& trial, const Artifact& artifact);
  void EndMeasuring(const TaskKey& key, int64_t trial);
  void OnMeasured(const TaskKey& key, const tuning_db::Record& record, const std::string& failure);
  void OnLost(const TaskKey& key, int64_t trial);
  void OnSettledBefore(const TaskKey& key);
  void OnPoison(const TaskKey& key, int64_t trial, const std::string& message);
  // Leased by the daemon itself and settled as this failure, unless a worker was faster. Takes a
  // copy: the trial leaves the open ones.
  absl::Status SettleFailure(tuning_db::Trial trial, tuning_db::Outcome outcome,
                             const std::string& message, const std::string& toolchain = "");
  void Abandon(TaskRunner& runner, const std::string& why);
  // The same without a word to the store, whose trials these are.
  std::vector<tuning_db::Trial> Forget(TaskRunner& runner);

  // ---- finals (tuning_loop_finals.cc) ----
  void BeginFinalWhenDue(TaskRunner& runner);
  void BeginFinal(TaskRunner& runner);
  void ProposeFinal(TaskRunner& runner);
  void BuildFinalists(TaskRunner& runner);
  void OnFinalistBuilt(TaskRunner& runner, size_t finalist, const hone::v1::BuildReply& reply);
  void OnFinalistsBuilt(TaskRunner& runner);
  void MeasureFinal(TaskRunner& runner, bool held);
  FinalFacts FactsOf(const TaskRunner& runner) const;
  // These two on the measurer's executor; `settled` is empty where nothing was measured.
  void SettleFinal(const FinalFacts& facts, const MeasureReport& report,
                   const SettledCallback& settled);
  void RepeatFinal(const FinalFacts& facts, const MeasureReport& report,
                   const SettledCallback& settled);
  void OnFinalSettled(const TaskKey& key, int64_t trial, const std::string& failure);
  void OnFinalLost(const TaskKey& key, int64_t trial);
  void EndFinal(TaskRunner& runner, tuning_db::Outcome outcome, const std::string& why);
  // Whose final this confirm trial is, now; nullptr: it is over.
  TaskRunner* FindFinal(const TaskKey& key, int64_t trial);

  TaskRunner* Find(const TaskKey& key);
  BuildQueue::Filter IsServed() const;
  bool IsMeasuring() const;
  // Whether building and measuring must not overlap.
  bool Alternates() const;
  // Whether the builders leave the cores to what is measured.
  bool BuildersRest() const;
  // The store failed: the loop stops; a restart goes on from what was committed.
  void Fatal(const absl::Status& status);

  const TuningOptions options_;
  const TuningParts parts_;
  const std::shared_ptr<Mailbox> mailbox_;  // for what the store calls back

  // Touched on the executor only.
  std::map<int64_t, ActiveJob> jobs_;
  std::set<TaskKey> left_alone_;  // wanted by jobs that are left to a service
  std::map<TaskKey, std::unique_ptr<TaskRunner>> runners_;
  BuildQueue builds_;
  std::deque<ReadyTrial> to_measure_;
  int planning_ = 0;
  bool measure_phase_ = false;  // where building and measuring alternate
  bool is_pump_posted_ = false;
  bool stopped_ = false;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_TUNING_LOOP_H_
