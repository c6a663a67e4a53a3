// The tuning loop: from jobs to settled records and finals.
//
// For each task of a job: propose a batch, build it, have it measured, until the task's budget or
// space is used up; then run its final. What comes next is always derived from the store, so a
// daemon that was killed at any instruction goes on where it stopped:
//   - A batch that begins with trial n is a function of the first n - batch settled trials and of
//     the configs of the others. It is proposed in one transaction, before anything is built.
//     While one batch is measured the next can be built.
//   - An open trial is built again (proposed), or waited for and then built again (leased).
//   - A task with no open trial and a met budget needs a final, unless it has one that is current.
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
#include <utility>
#include <vector>

#include "support/clock.h"
#include "tuner/builder.h"
#include "tuner/executor.h"
#include "tuner/jobs/batch_plan.h"
#include "tuner/jobs/final_plan.h"
#include "tuner/jobs/task_history.h"
#include "tuner/lowerer.h"
#include "tuner/measurer.h"
#include "tuner/search.h"
#include "tuner/task_scheduler/task_scheduler.h"
#include "tuning_db/store.h"

namespace hone::tuner {

struct TuningOptions {
  int batch = 8;             // trials proposed at once
  int max_open_trials = 24;  // proposed and not settled, over all tasks
  int build_batches = 2;     // handed to the builder at once
  int final_top = 4;         // trials in a final, beside incumbent and default
  int final_rounds = 7;
  double stop_above_best = 4;  // candidates slower than this many times the best stop early
  // A measurement with at least so many threads is not overlapped with building or training; they
  // alternate in batches. 0: always overlapped (all workers are on other machines).
  int local_cores = 0;
  int64_t build_limit_ns = 20'000'000'000;
  int64_t run_limit_ns = 10'000'000'000;
  uint64_t memory_limit_bytes = uint64_t{4} << 30;
  int builder_attempts = 5;  // of a request that fails through no fault of its candidate
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
  // Something happened to the job: it has new events. From any thread.
  std::function<void(int64_t job)> on_event;
  // The store fails: the loop has stopped, and only a restart goes on. From the loop's executor.
  std::function<void(absl::Status)> on_fatal;
};

class TuningLoop {
 public:
  TuningLoop(TuningOptions options, TuningParts parts)
      : options_(std::move(options)), parts_(std::move(parts)) {}

  // These post to the loop's executor, and may be called from any thread.
  // Takes up every job that has not ended. To be called first, before workers are served.
  void Resume();
  // The job was submitted to the store.
  void JobSubmitted(int64_t job);
  // The job's state is `cancelled` when `done` is called.
  void CancelJob(int64_t job, std::function<void(absl::Status)> done);
  // A few times a second: deadlines.
  void Tick();
  // Nothing new is proposed, built or measured from here on.
  void Stop();

 private:
  using TaskKey = std::pair<int64_t, std::string>;  // task, signature

  struct ActiveJob {
    tuning_db::Job job;
    int64_t started_ns = 0;
    bool expired = false;  // its time is up: what is open settles, then finals
  };
  struct FinalRun {
    tuning_db::Trial trial;
    std::vector<PlannedTrial> finalists;
    std::map<size_t, Artifact> built;  // by finalist
    std::string toolchain;
    std::string failure;  // of the default's build
    size_t building = 0;
  };
  struct Runner {
    Runner(TaskKey of, tuning_db::Task what)
        : key(std::move(of)), task(std::move(what)), history(key.first, key.second) {}

    TaskKey key;
    tuning_db::Task task;
    std::shared_ptr<const TaskContext> context;
    TaskHistory history;
    std::map<int64_t, tuning_db::Trial> open;  // search trials, by id
    std::optional<tuning_db::Trial> open_confirm;
    std::optional<FinalRun> final_run;
    Artifact reference;
    bool reference_building = false;
    bool planning = false;
    bool exhausted = false;
    bool closed = false;
    std::string failure;  // why the task cannot be tuned; empty: nothing
  };
  // Somebody who wants a task tuned.
  struct Want {
    const ActiveJob* job = nullptr;
    const tuning_db::JobTask* task = nullptr;
  };
  struct BuildItem {
    enum class Kind { kTrial, kReference, kFinalist };
    Kind kind = Kind::kTrial;
    TaskKey key;
    int64_t trial = 0;  // kTrial. kFinalist: the confirm trial
    size_t finalist = 0;
    int attempts = 0;
    hone::v1::BuildRequest request;
  };
  struct ReadyTrial {
    MeasureRequest request;
    MeasureCallback done;
  };

  // ---- jobs (tuning_loop.cc) ----
  void DoResume();
  void Activate(int64_t job);
  Runner* EnsureRunner(const tuning_db::JobTask& task);
  void AdoptOpenTrials();
  void DoCancel(int64_t job, const std::function<void(absl::Status)>& done);
  void DropUnwanted();
  void FinishJobs();
  std::vector<Want> WantsOf(const Runner& runner) const;
  // Of the job that a new trial belongs to: wants more of the task, greatest priority, oldest.
  std::optional<Want> WhoWantsMore(const Runner& runner) const;
  bool IsClosed(const Runner& runner) const;
  void FailTask(Runner& runner, const std::string& why);
  void Emit(int64_t job) const;
  // Everything that can be done now is begun.
  void Pump();

  // ---- trials (tuning_loop_trials.cc) ----
  void ProposeMore();
  bool CanPropose(const Runner& runner) const;
  void Plan(Runner& runner);
  void OnPlanned(const TaskKey& key, int64_t job, BatchPlan plan);
  void Adopt(Runner& runner, const tuning_db::Trial& trial);
  void NeedReference(Runner& runner);
  void QueueBuild(Runner& runner, const tuning_db::Trial& trial);
  void DispatchBuilds();
  void OnBuilt(uint64_t id, absl::StatusOr<hone::v1::BuildReply> reply);
  void OnBuilderFailed(BuildItem item, const absl::Status& status);
  void OnReferenceBuilt(Runner& runner, const hone::v1::BuildReply& reply);
  void OnTrialBuilt(Runner& runner, int64_t trial, const hone::v1::BuildReply& reply);
  MeasureRequest RequestFor(const Runner& runner, const tuning_db::Trial& trial) const;
  MeasureCallback SettleWith(const TaskKey& key, int64_t trial, Artifact artifact,
                             const std::string& toolchain);
  void DispatchMeasurements();
  void EndMeasuring(int64_t trial);
  void OnMeasured(const TaskKey& key, const tuning_db::Record& record);
  void OnLost(const TaskKey& key, int64_t trial);
  void OnSettledBefore(const TaskKey& key);
  void OnPoison(const TaskKey& key, int64_t trial, const std::string& message);
  // Leased by the daemon itself and settled as this failure, unless a worker was faster. Takes a
  // copy: the trial leaves the open ones.
  absl::Status SettleFailure(tuning_db::Trial trial, tuning_db::Outcome outcome,
                             const std::string& message, const std::string& toolchain = "");
  void Abandon(Runner& runner, const std::string& why);

  // ---- finals (tuning_loop_finals.cc) ----
  void BeginFinalWhenDue(Runner& runner);
  void BeginFinal(Runner& runner);
  absl::Status SettleConfirm(const Runner& runner);
  void BuildFinalists(Runner& runner);
  void OnFinalistBuilt(Runner& runner, size_t finalist, const hone::v1::BuildReply& reply);
  void MeasureFinal(Runner& runner, bool held);
  MeasureCallback SettleFinalWith(const Runner& runner, std::vector<tuning_db::FinalEntry> entries);
  // On the measurer's executor.
  absl::StatusOr<tuning_db::SettleResult> SettleFinal(
      const TaskKey& key, int64_t trial, const tuning_db::Final& facts,
      const std::vector<tuning_db::FinalEntry>& entries, const MeasureReport& report);
  void OnFinalSettled(const TaskKey& key, const std::string& failure);
  void OnFinalLost(const TaskKey& key);
  void EndFinal(Runner& runner, tuning_db::Outcome outcome, const std::string& why);

  Runner* Find(const TaskKey& key);
  // Whether building and measuring must not overlap.
  bool Alternates() const;
  // The store failed: the loop stops; a restart goes on from what was committed.
  void Fatal(const absl::Status& status);

  const TuningOptions options_;
  const TuningParts parts_;

  // Touched on the executor only.
  std::map<int64_t, ActiveJob> jobs_;
  std::map<TaskKey, std::unique_ptr<Runner>> runners_;
  std::deque<BuildItem> to_build_;
  std::map<uint64_t, BuildItem> building_;
  std::map<uint64_t, int> left_of_batch_;  // requests without a reply, by batch
  std::map<uint64_t, uint64_t> batch_of_;  // by request
  std::deque<ReadyTrial> to_measure_;
  std::set<int64_t> measuring_;  // trials with the measurer
  uint64_t next_build_ = 1;
  int planning_ = 0;
  std::set<int64_t> finals_measuring_;  // of these
  bool measure_phase_ = false;          // where building and measuring alternate
  bool stopped_ = false;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_TUNING_LOOP_H_
