// Watches a job to its end and prints how it stands, for `hone tune` and `hone job watch`.
#ifndef HONE_CLI_JOB_PROGRESS_H_
#define HONE_CLI_JOB_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/model_final_report.h"
#include "cli/tuning_client.h"
#include "nlohmann/json_fwd.hpp"
#include "tuning_db/model_final.h"

namespace hone::cli {

// Sums over the kernels of a job.
struct JobTotals {
  int64_t trials = 0;    // spent by the job
  int64_t failures = 0;  // of these
  int64_t done = 0;      // by whatever job
  int64_t budget = 0;
};
JobTotals TotalsOf(const v1::JobInfo& job);

// The time of all calls of the tasks that have been measured, with default configs and with the
// best configs so far. A kernel that is tuned in two layouts counts in both. 0: no task has been
// measured.
struct JobTimes {
  double default_ns = 0;
  double best_ns = 0;
};
JobTimes TimesOf(const v1::JobInfo& job);

// The tasks of a job without a measured trial, by workload digest and signature.
TaskKeys UntriedOf(const v1::JobInfo& job);

// The reason for which the first of the waiting tasks waits; empty: no task waits.
std::string WaitsFor(const v1::JobInfo& job);

// Called with how a job stands after an event of this kind ("final", ...).
using OnProgress = std::function<void(const v1::JobInfo& job, const std::string& kind)>;

struct WatchOptions {
  int64_t after_seq = 0;  // events up to this one were seen before
  // Returns true to end the watch; called several times a second, from another thread. nullptr: the
  // watch goes on until the job has ended.
  std::function<bool()> stop = nullptr;
  OnProgress on_progress = nullptr;  // is told instead of stderr
  std::string label = "";            // before every line, where several jobs are watched at once
  // Whether to print a line when the job waits, which says for what, and when it goes on. False
  // where a device is known to be on its way.
  bool says_waiting = true;
};

// Shows the job's progress on stderr until it has ended or `stop` returns true, and returns how it
// stands then.
absl::StatusOr<v1::GetJobResponse> WatchToEnd(TuningClient& client, int64_t job,
                                              const WatchOptions& options);

// The kernels of a job that came with its tasks' texts (GetJob), as a JSON list or a table.
nlohmann::json TasksToJson(const v1::JobInfo& job);
void PrintTasks(const v1::JobInfo& job);

// What was spent on measuring the target's micro-kernels before a job. It is not part of the job's
// budget.
struct MicroKernelsSpent {
  int64_t trials = 0;
  double seconds = 0;
};

// What was spent and what was won, as the document of `hone tune --json`.
nlohmann::json ResultToJson(const v1::GetJobResponse& ended, double wall_s,
                            const MicroKernelsSpent& micro_kernels,
                            const std::vector<tuning_db::ModelFinal>& models);
// Prints what was spent and won on stdout, kernel by kernel and by the models as a whole.
void PrintResult(const v1::GetJobResponse& ended, bool json, double wall_s,
                 const MicroKernelsSpent& micro_kernels = {},
                 const std::vector<tuning_db::ModelFinal>& models = {});

// OK if the job is done, unless a time limit ended it before its budget was spent; otherwise an
// error, with its exit code, that says why it ended.
absl::Status StateToStatus(const v1::JobInfo& job);

// From the call of CatchInterrupts on, Ctrl-C, SIGTERM and SIGHUP (unless it was ignored) no longer
// end this program. Interrupts returns how many of them there were.
void CatchInterrupts();
int Interrupts();
// From here on, it also counts as an interrupt that nobody reads this program's stdout any more:
// the program that started it is gone, and no job outlives its owner.
void InterruptWithoutReader();
// kCancelled, with exit code 130, if there was an interrupt: a tune on this machine then ends with
// it.
absl::Status CheckInterrupts();

}  // namespace hone::cli

#endif  // HONE_CLI_JOB_PROGRESS_H_
