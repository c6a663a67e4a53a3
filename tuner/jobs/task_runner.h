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
// What tasks were read from, opened: to parse a workload takes long.
using TaskContexts = std::map<TaskKey, std::shared_ptr<const TaskContext>>;

struct ActiveJob {
  tuning_db::Job job;
  int64_t started_ns = 0;    // on the loop's clock, moved back by what it ran under earlier daemons
  int64_t ran_saved_ns = 0;  // when its running time was last stored
  bool expired = false;      // its time is up: what is open settles, then finals
  std::string waiting;       // for what, as its newest event says; empty: for nothing
  // What its models take with defaults; nothing: not all of its tasks have a first trial yet.
  std::optional<double> models_ns;

  int64_t RanNs(int64_t now_ns) const { return now_ns - started_ns; }
};
using ActiveJobs = std::map<int64_t, ActiveJob>;  // by id

tuning_db::Purpose PurposeOf(const tuning_db::Job& job);

// The least that the job's candidates are measured in.
hone::v1::SandboxLevel SandboxOf(const tuning_db::Job& job);

// Somebody who wants a task tuned.
struct Want {
  const ActiveJob* job = nullptr;
  const tuning_db::JobTask* task = nullptr;
  // For a job whose searches end early, whether more trials are worth it (early_end.h), as judged
  // when the task had this many, and the task's share of the models' time.
  int64_t judged_at = -1;
  bool is_worth_more = true;
  double share = 0;

  bool EndsEarly() const {
    return job->job.ends_early && PurposeOf(job->job) == tuning_db::Purpose::kSearch;
  }
  bool IsJudgedAt(int64_t trials) const { return !EndsEarly() || judged_at == trials; }
  // Whether the search has ended with so many trials, before its budget; it has not where that is
  // not judged yet.
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
  std::string failure;               // of the default's build
  size_t building = 0;
  int attempts = 0;     // measurements begun
  int64_t settled = 0;  // search trials, when it began
  std::string regime;   // that it was asked for in
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

  // It names this object in this process: a plan made for another runner of the task is dropped.
  const uint64_t serial;
  const TaskKey key;
  const tuning_db::Task task;
  std::shared_ptr<const TaskContext> context;  // nullptr: see failure
  TaskHistory history;
  int64_t rotation_bytes = 0;                // what copies of constants fill, in its regime
  std::vector<Want> wants;                   // greatest priority first, then the oldest job
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
  std::string waiting;  // for what, as was announced; empty: for nothing

  void AddWant(const Want& want);
  void RemoveWants(int64_t job);
  // Forgets all that is open but what the measurer has and is among these; what is being built for
  // it is built again when it is wanted again.
  void KeepOnlyMeasuring(const std::set<int64_t>& trials);
  // Takes in what others have added to the store.
  absl::Status CatchUp(tuning_db::Store& store);
  absl::Status Reload(tuning_db::Store& store);
  // Times are compared in the regime of the first who wants the task.
  void ChooseRegime();

  // Whether this open trial is among its own.
  bool Has(int64_t trial) const;
  bool IsClosed() const { return closed || !failure.empty(); }
  // False: every job that wants it is paused, and it lives until what is measured has settled.
  bool IsWanted() const { return !wants.empty(); }
  bool IsActive() const { return IsWanted() && !IsClosed(); }
  bool IsMeasuringFinal() const;
  bool HasSharedArtifacts() const {
    return reference.state == SharedArtifact::State::kDone &&
           anchor.state == SharedArtifact::State::kDone;
  }
  // The first who wants more trials than there are; nullptr: nobody.
  const Want* WhoWantsMore() const;
  // Trials that may still be proposed.
  int64_t LeftOfBudget() const;
  // Whether its search has come to an end for this job: its budget, its space, or nothing to win.
  bool IsSearchedFor(int64_t job) const;
  // The greatest share of the models' time with which its search has ended early; 0: it has not.
  double EndedShare() const;
  // The same, or where no trial was spent since its newest final the share with which it had ended
  // then: a job that asks for less, or in another regime, takes nothing back.
  double ShareOfFinal() const;
  // Whether somebody wants a winner.
  bool WantsWinner() const;
  // Whether somebody wants a winner and no final says who it is.
  bool NeedsFinal() const;
  // Whether somebody's time is not up.
  bool HasTime() const;
  int priority() const { return wants.empty() ? 0 : wants.front().job->job.priority; }
  // On which devices it is measured: of the class that the first wants who wants it, in the
  // strictest sandbox that anybody does; where no device is like that, on those that the first
  // wants of whom there are any. So nobody's wish holds up others.
  DeviceNeed Need(const Measurer& measurer) const;
  // Who is charged with what it takes of the farm: that of the first who wants it.
  std::string submitter() const { return wants.empty() ? "" : wants.front().job->job.submitter; }
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_TASK_RUNNER_H_
