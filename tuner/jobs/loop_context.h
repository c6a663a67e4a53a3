// What the stages of the tuning loop have in common.
#ifndef HONE_TUNER_JOBS_LOOP_CONTEXT_H_
#define HONE_TUNER_JOBS_LOOP_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "support/clock.h"
#include "tuner/builder.h"
#include "tuner/executor.h"
#include "tuner/lowerer.h"
#include "tuner/measurer.h"
#include "tuner/search.h"
#include "tuner/task_scheduler/task_scheduler.h"
#include "tuning_db/store.h"

namespace hone::tuner {

struct TuningOptions {
  int batch = 8;  // trials proposed at once
  // The fewest and the most trials that are proposed and not settled at a time, over the tasks that
  // the same devices serve. Within these bounds there are enough for what the devices can hold and
  // what is built meanwhile.
  int least_open_trials = 24;
  int max_open_trials = 4096;
  // How many open trials one submitter may have, whatever they are for; 0: no limit. One batch is
  // always let in, so that nobody waits forever.
  int64_t most_open_of_one = 0;
  int build_batches = 2;  // how many batches the builder has at once
  int final_top = 8;      // trials in a final, beside incumbent and default
  int final_rounds = 11;
  // How often a final is measured, at most, while some of its rounds cannot be timed.
  int final_attempts = 3;
  // How many rounds time a config and its task's default in turns.
  int calibration_rounds = 15;
  double stop_above_best = 4;  // candidates slower than this many times the best stop early
  // A measurement with at least so many threads does not overlap with building or training: they
  // alternate in batches. 0: they always overlap (all workers are on other machines).
  int local_cores = 0;
  int64_t build_limit_ns = 20'000'000'000;
  int64_t run_limit_ns = 10'000'000'000;  // of one candidate; a final's: of each round
  uint64_t memory_limit_bytes = uint64_t{4} << 30;
  // How often a request is built, at most, that fails through no fault of its candidate.
  int builder_attempts = 5;
  int64_t save_ran_ns =
      5'000'000'000;  // how often the running time of a job with a limit is stored
  // How long a daemon owns its jobs without saying that it is alive, where there may be others.
  int64_t owner_lease_ns = 30'000'000'000;
  // A store that cannot be reached for so long is not waited for any longer.
  int64_t store_patience_ns = 60'000'000'000;
  // A job whose time is up does not wait longer than this for a device to run its finals.
  int64_t device_grace_ns = 30'000'000'000;
};

// All objects outlive the loop. Before the loop is destroyed, both executors have stopped or
// drained.
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
  // The ownership with which the loop writes to jobs; one of epoch 0 is not checked.
  tuning_db::Ownership ownership;
  // True in a private daemon: jobs that it finds in the store are others' (decision 0014).
  bool is_private = false;
  // Called with what the task waits for from now on; empty: for nothing. On the loop's executor.
  std::function<void(int64_t task, const std::string& signature, const std::string& what)>
      on_waiting;
  // Called once, on the loop's executor, when the store fails for good: the loop has stopped, and
  // only a restart goes on.
  std::function<void(absl::Status)> on_fatal;
};

// What the parts of one loop share. Members that are not const are used on the loop's executor
// only.
struct LoopContext {
  LoopContext(TuningOptions with, TuningParts of)
      : options(std::move(with)), parts(std::move(of)) {}

  const TuningOptions options;
  const TuningParts parts;
  bool stopped = false;  // nothing new begins
  // The store refused a write to a job: the loop has to look at who owns the jobs.
  bool was_refused = false;

  // Whether other daemons may own jobs of the store.
  bool HasOthers() const;
  // The ownership with which trials are leased. A private daemon uses none, since it also leases
  // trials of a service's jobs that want what its client wants.
  tuning_db::Ownership LeasesAs() const;
  // To be called with an error of the store (store_error.h). If the error passes, `again` is called
  // at the next tick; it makes the failed call once more, if that is still wanted then. If other
  // daemons may own jobs and the store refused the write, the loop looks at who owns the jobs.
  // Every other error is fatal.
  void Failed(const absl::Status& status, std::function<void()> again);
  // Whether something waits for the next tick, since the store failed.
  bool HasFailed() const { return !again_.empty(); }
  // Calls what has waited for this tick.
  void TryAgain();
  // Stops the loop for good; a restart goes on from what was committed.
  void Fatal(const absl::Status& status);

 private:
  // Whether the store, which could not be reached just now, may be reached later.
  bool IsWorthWaiting();

  std::vector<std::function<void()>> again_;
  bool is_failing_ = false;                    // as was logged
  std::optional<int64_t> unreached_since_ns_;  // nothing: the store was reached since the last tick
  bool was_unreached_ = false;                 // since the last tick
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_LOOP_CONTEXT_H_
