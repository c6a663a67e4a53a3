// What the tuning loop holds of one task and layout signature while jobs want it.
#ifndef HONE_TUNER_JOBS_TASK_RUNNER_H_
#define HONE_TUNER_JOBS_TASK_RUNNER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tuner/jobs/batch_plan.h"
#include "tuner/jobs/kept_artifacts.h"
#include "tuner/jobs/task_history.h"
#include "tuner/lowerer.h"
#include "tuner/measurer.h"
#include "tuning_db/store.h"

namespace hone::tuner {

using TaskKey = std::pair<int64_t, std::string>;  // task, signature

TaskKey KeyOf(const tuning_db::JobTask& task);
// The keys of all tasks of the job.
std::set<TaskKey> KeysOf(const tuning_db::Job& job);
// The opened contexts of tasks, kept because parsing a workload takes long.
using TaskContexts = std::map<TaskKey, std::shared_ptr<const TaskContext>>;

struct ActiveJob {
  tuning_db::Job job;
  int64_t started_ns = 0;    // on the loop's clock, moved back by what it ran under earlier daemons
  int64_t ran_saved_ns = 0;  // when its running time was last stored
  bool expired = false;      // its time is up: what devices hold settles, then finals
  std::string waiting;       // what it waits for, as its newest event says; empty: nothing
  // The time that the job's models take with default configs; nothing while not all of its tasks
  // have settled a first trial.
  std::optional<double> models_ns;

  int64_t RanNs(int64_t now_ns) const { return now_ns - started_ns; }
};
using ActiveJobs = std::map<int64_t, ActiveJob>;  // by id

tuning_db::Purpose PurposeOf(const tuning_db::Job& job);

// The weakest sandbox in which the job's candidates may be measured.
hone::v1::SandboxLevel SandboxOf(const tuning_db::Job& job);

// A job that wants a task tuned.
struct Want {
  const ActiveJob* job = nullptr;
  const tuning_db::JobTask* task = nullptr;
  // Used only where the job ends searches early: whether more trials are worth it (early_end.h), as
  // judged when the task had `judged_at` trials, and the task's share of the models' time.
  int64_t judged_at = -1;
  bool is_worth_more = true;
  double share = 0;

  bool EndsEarly() const {
    return job->job.ends_early && PurposeOf(job->job) == tuning_db::Purpose::kSearch;
  }
  bool IsJudgedAt(int64_t trials) const { return !EndsEarly() || judged_at == trials; }
  // Whether the search has ended early, with this many trials; false where that is not judged yet.
  bool HasEnded(int64_t trials) const {
    return EndsEarly() && judged_at == trials && !is_worth_more && trials < task->trials;
  }
  bool WantsMoreThan(int64_t trials) const {
    return !job->expired && trials < task->trials && !HasEnded(trials);
  }
};

struct FinalRun {
  tuning_db::Trial trial;
  std::vector<PlannedTrial> finalists;
  std::map<size_t, Artifact> built;  // by finalist
  std::string failure;               // why the default could not be built
  size_t building = 0;
  int attempts = 0;     // measurements begun
  int64_t settled = 0;  // search trials settled when the run began
  std::string regime;   // the regime that the final was asked for in
};

// The default config's artifact, or the reference's: built once, before the first trial.
struct SharedArtifact {
  enum class State { kNone, kBuilding, kDone };
  State state = State::kNone;
  Artifact artifact;  // kDone: without a digest where it does not build
};

// Not thread-safe.
struct TaskRunner {
  TaskRunner(TaskKey of, tuning_db::Task what);

  // Identifies this object in this process: a plan that was made for another runner of the same
  // task is dropped.
  const uint64_t serial;
  const TaskKey key;
  const tuning_db::Task task;
  std::shared_ptr<const TaskContext> context;  // nullptr: see failure
  TaskHistory history;
  int64_t rotation_bytes = 0;                // how much copies of constants fill in the regime
  std::vector<Want> wants;                   // greatest priority first, then as added
  std::map<int64_t, tuning_db::Trial> open;  // search trials, by id
  std::optional<tuning_db::Trial> open_confirm;
  std::optional<FinalRun> final_run;
  std::set<int64_t> measuring;  // trials that the measurer has, that of the final among them
  SharedArtifact reference;
  SharedArtifact anchor;
  KeptArtifacts kept;
  bool planning = false;
  bool is_stale = false;  // it was parked, and does not know what became of what it forgot
  bool exhausted = false;
  bool closed = false;
  std::string failure;     // why the task cannot be tuned; empty: nothing
  bool is_served = false;  // a connected device is what it needs
  int64_t unserved_since_ns = 0;
  std::string waiting;  // what it waits for, as was announced; empty: nothing

  void AddWant(const Want& want);
  void RemoveWants(int64_t job);
  // Forgets all open trials except those among `trials` that the measurer has. What is being built
  // for the forgotten ones is built again when it is wanted again.
  void KeepOnlyMeasuring(const std::set<int64_t>& trials);
  // Forgets the reference and anchor where they are being built; they are asked for again.
  void ForgetBuilding();
  // Reloads the history where others have added trials to the store.
  absl::Status CatchUp(tuning_db::Store& store);
  absl::Status Reload(tuning_db::Store& store);
  // Chooses the regime in which times are compared: that of the first job in `wants`.
  void ChooseRegime();

  // Whether the trial is one of this runner's open trials.
  bool Has(int64_t trial) const;
  bool IsClosed() const { return closed || !failure.empty(); }
  // False: every job that wants the task is paused, and the runner lives until what is being
  // measured has settled.
  bool IsWanted() const { return !wants.empty(); }
  bool IsActive() const { return IsWanted() && !IsClosed(); }
  bool IsMeasuringFinal() const;
  bool HasSharedArtifacts() const {
    return reference.state == SharedArtifact::State::kDone &&
           anchor.state == SharedArtifact::State::kDone;
  }
  // The first job that wants more trials than there are; nullptr: there is none.
  const Want* WhoWantsMore() const;
  // How many trials may still be proposed.
  int64_t LeftOfBudget() const;
  // Whether the search has ended for this job: its budget is spent, the space is exhausted, or more
  // trials are not worth it.
  bool IsSearchedFor(int64_t job) const;
  // The task's share of the models' time, the greatest of the jobs for which the search has ended
  // early; 0: it has for none.
  double EndedShare() const;
  // As EndedShare. Where that is 0 and no trial has settled since the newest final, the share that
  // the final was stored with: a later job that asks for less, or in another regime, takes nothing
  // back.
  double ShareOfFinal() const;
  // Whether some job wants a winner.
  bool WantsWinner() const;
  // Whether some job wants a winner, and no final names one that is good enough.
  bool NeedsFinal() const;
  // Whether the time of a job is up, and no other wants more trials than are settled.
  bool IsLate() const;
  // Whether the time of some job is not up.
  bool HasTime() const;
  int priority() const { return wants.empty() ? 0 : wants.front().job->job.priority; }
  // What a device must be to measure the task: of the device class that the first job asks for,
  // with the strictest sandbox that any of the jobs asks for. Where no device is like that, what
  // the first job asks for whose own need some device meets, so that no job's wish holds up the
  // others.
  DeviceNeed Need(const Measurer& measurer) const;
  // The job that is charged for the task's use of the farm, and its submitter: the first in
  // `wants`.
  int64_t charged_job() const { return wants.empty() ? 0 : wants.front().job->job.id; }
  std::string submitter() const { return wants.empty() ? "" : wants.front().job->job.submitter; }
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_TASK_RUNNER_H_
