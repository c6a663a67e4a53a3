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
//
// This class knows the jobs, TaskFlow moves their tasks from state to state (task_state.h) through
// the stages: SearchStage proposes, BuildStage builds, MeasureStage measures, FinalStage runs
// finals, TrialSettler settles.
#ifndef HONE_TUNER_JOBS_TUNING_LOOP_H_
#define HONE_TUNER_JOBS_TUNING_LOOP_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuner/jobs/changed_jobs.h"
#include "tuner/jobs/loop_context.h"
#include "tuner/jobs/task_flow.h"
#include "tuner/jobs/task_runner.h"

namespace hone::tuner {

class TuningLoop {
 public:
  TuningLoop(TuningOptions options, TuningParts parts);

  // These post to the loop's executor, and may be called from any thread.
  // Cancels what private daemons left, and takes up every job that has not ended and is not paused;
  // the loop of a private daemon leaves those jobs to a service. To be called first, before workers
  // are served.
  void Begin();
  // The job was submitted to the store. `contexts` are those of its tasks that were opened to check
  // it; they are not opened again.
  void JobSubmitted(int64_t job, TaskContexts contexts = {});
  // Looks again at who owns the jobs. Where there may be other daemons, to be called several times
  // within an owner's lease. The jobs in `taken` were another daemon's until just now: they are
  // begun anew, even where this daemon never heard that it had lost them.
  void SeeOwners(const std::vector<int64_t>& taken = {});
  // The job's state is `cancelled` when `done` is called.
  void CancelJob(int64_t job, std::function<void(absl::Status)> done);
  // Once `done` is called, nothing more is proposed or leased for the job; what devices may have
  // begun is still settled.
  void PauseJob(int64_t job, std::function<void(absl::Status)> done);
  // Its state is no longer `paused` when `done` is called.
  void ResumeJob(int64_t job, std::function<void(absl::Status)> done);
  // To be called a few times a second, and when devices come or go: looks at deadlines, at which
  // tasks devices serve, and at what was asked of other daemons.
  void Tick();
  // How many jobs ended here, by state. May be called on any thread.
  std::map<std::string, uint64_t> JobsEnded() const;
  // Nothing new is proposed, built or measured from here on.
  void Stop();

 private:
  // A job that has not ended and is not run here.
  struct Sleeper {
    std::set<TaskKey> wants;
    tuning_db::JobState state;  // when it was looked at
    int64_t epoch;              // of its owner, likewise
  };

  // Begins everything that can be done, after what has come so far has been dealt with: many
  // results that come together are looked at together.
  void Pump();
  void DoPump();

  // ---- what is asked of it ----
  void DoBegin();
  void DoTick();
  void Answer(const absl::Status& status, const std::function<void(absl::Status)>& done);
  absl::Status Cancel(int64_t job);
  absl::Status Pause(int64_t job);
  absl::Status Resume(int64_t job);

  // ---- what jobs want ----
  // All jobs of the store that have not ended.
  absl::StatusOr<std::vector<tuning_db::Job>> OpenJobs() const;
  // Runs the job, unless it has ended or is paused.
  void Activate(int64_t job);
  absl::Status TryActivate(int64_t job);
  void Run(const tuning_db::Job& job);
  // Ends the job's wants, for now or for good.
  void Retire(int64_t job);
  // Runs the job, or leaves it alone where it is not this daemon's to run.
  void Start(int64_t job);
  void LetSleep(const tuning_db::Job& job);
  bool IsWantedBySleepers(const TaskKey& key) const;
  bool IsOfAnotherOwner(const tuning_db::Trial& trial) const;
  // Whether the only jobs that want the open trial are ours, and they sleep.
  bool IsLeftToUs(const tuning_db::Trial& trial) const;
  void AdoptOpenTrials();

  // ---- several daemons (tuning_loop_owners.cc) ----
  bool IsOurs(const tuning_db::Job& job) const;
  // Whether the job is ours, is not paused, and no job of another daemon that wants one of its
  // tasks goes before it. `open` are all jobs that have not ended.
  bool MayRun(const tuning_db::Job& job, const std::vector<tuning_db::Job>& open) const;
  // Claims the job, to run from now on. False: another daemon was faster, and the job is queued.
  absl::StatusOr<bool> Claim(const tuning_db::Job& job);
  absl::Status QueueAgain(int64_t job);
  // Runs the jobs that are ours to run, and no others. Returns whether anything has changed.
  bool SeeJobs();
  // Lets those of `open` (all jobs that have not ended) sleep that are not to go on here, and
  // forgets jobs that have ended. Returns whether anything has changed.
  bool LeaveOthersJobs(const std::vector<tuning_db::Job>& open);
  // The job is no longer run, and may be begun anew.
  void PutAside(int64_t job);
  // Does what SeeJobs does, after a write to a job was refused.
  void SeeRefused();
  // An error where this daemon has to end (store_error.h).
  absl::Status SeeOwnLife();
  // Does what SeeJobs does, after other daemons have changed what matters here.
  bool SeeChanges();
  bool MayMatter(int64_t changed_job);
  // Whether the job still stands as it did when it was last looked at.
  bool IsAsSeen(int64_t job);

  // ---- how they stand ----
  void SaveRan(ActiveJob& active, int64_t now_ns);
  bool SeeDeadlines(int64_t now_ns);
  // Announces what tasks and jobs wait for, where that has changed.
  void AnnounceWaiting();
  void FinishJobs();
  absl::Status Finish(const ActiveJob& active);

  std::atomic<uint64_t> done_ = 0;
  std::atomic<uint64_t> failed_ = 0;
  std::atomic<uint64_t> cancelled_ = 0;

  // Touched on the executor only.
  LoopContext loop_;
  ActiveJobs jobs_;
  // The jobs that have not ended and are not run: those that are paused, or left to a service, or
  // another daemon's, or wait for one of those.
  std::map<int64_t, Sleeper> asleep_;
  TaskFlow flow_;
  bool is_pump_posted_ = false;
  std::optional<ChangedJobs> changed_;  // where there are other daemons
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_TUNING_LOOP_H_
