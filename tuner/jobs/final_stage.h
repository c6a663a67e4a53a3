// Runs finals, which time the best few trials of a task, the incumbent and the default config in
// interleaved rounds.
#ifndef HONE_TUNER_JOBS_FINAL_STAGE_H_
#define HONE_TUNER_JOBS_FINAL_STAGE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/jobs/build_stage.h"
#include "tuner/jobs/loop_context.h"
#include "tuner/jobs/measure_stage.h"
#include "tuner/jobs/task_table.h"
#include "tuner/jobs/trial_proposer.h"
#include "tuner/jobs/trial_settler.h"

namespace hone::tuner {

// Takes a task whose search is over to its winner: chooses finalists, proposes the confirm trial,
// has the finalists built and measured, judges them, and settles trial and final in one
// transaction. Not thread-safe. The objects given to the constructor outlive it.
class FinalStage {
 public:
  // What the stage tells the loop; called on the loop's executor.
  struct Events {
    // A confirm trial is open, but its task was given up or parked while the trial was being
    // proposed.
    std::function<void()> orphaned;
    std::function<void(TaskRunner&, const std::string& why)> task_failed;
    std::function<void()> changed;
  };

  FinalStage(LoopContext& loop, TaskTable& tasks, TrialProposer& proposer, TrialSettler& settler,
             BuildStage& builds, MeasureStage& measures, Events events)
      : loop_(loop),
        tasks_(tasks),
        proposer_(proposer),
        settler_(settler),
        builds_(builds),
        measures_(measures),
        events_(std::move(events)) {}

  // Proposes a confirm trial for the task, whose final is due and has none yet.
  void Propose(TaskRunner& runner);
  bool IsProposing() const { return proposing_ > 0; }
  // Begins the task's final, whose confirm trial is open.
  void Begin(TaskRunner& runner);
  // To be called when all that had to be built for the task's final is built.
  void OnFinalistsBuilt(TaskRunner& runner);
  // Measures the task's final, whose turn has come.
  void Measure(TaskRunner& runner) { Measure(runner, /*held=*/false); }

 private:
  // What the measurer's thread must know to settle a final.
  struct Facts {
    TaskKey key;
    int64_t trial = 0;
    tuning_db::Final final;  // without what is measured
    std::vector<tuning_db::FinalEntry> entries;
    bool may_repeat = false;
    // The regime of a final that a worker holds from before a restart, whose plan may have been
    // another; empty: no worker does.
    std::string held_regime;
  };

  void OnProposed(const TaskKey& key, uint64_t serial, const tuning_db::Trial& trial);
  void BuildFinalists(TaskRunner& runner);
  // `held` says that a worker may have the final from before a restart.
  void Measure(TaskRunner& runner, bool held);
  MeasureRequest RequestFor(const TaskRunner& runner) const;
  Facts FactsOf(const TaskRunner& runner) const;
  // These two run on the measurer's executor; `settled` is empty where nothing was measured.
  void Settle(const Facts& facts, const MeasureReport& report, const SettledCallback& settled);
  bool HasToRepeat(const Facts& facts, const MeasureReport& report) const;
  void OnSettled(const TaskKey& key, int64_t trial, const std::string& failure);
  void OnLost(const TaskKey& key, int64_t trial);
  // The final did not come about, and would not if it were tried again.
  void End(TaskRunner& runner, tuning_db::Outcome outcome, const std::string& why);
  // The task whose final has this confirm trial now; nullptr: that final is over.
  TaskRunner* Find(const TaskKey& key, int64_t trial);

  LoopContext& loop_;
  TaskTable& tasks_;
  TrialProposer& proposer_;
  TrialSettler& settler_;
  BuildStage& builds_;
  MeasureStage& measures_;
  const Events events_;
  int proposing_ = 0;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_FINAL_STAGE_H_
