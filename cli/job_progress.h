// How a job stands: watched to its end, then printed. What `hone tune` and `hone job watch` share.
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

// The time of all tasks' calls, by default and with the best configs so far, over those that have
// been measured; a kernel that is tuned in two layouts counts in both. 0: none has.
struct JobTimes {
  double default_ns = 0;
  double best_ns = 0;
};
JobTimes TimesOf(const v1::JobInfo& job);

// The tasks of a job of which no trial was ever measured, by their workloads' digests and
// signatures.
TaskKeys UntriedOf(const v1::JobInfo& job);

// What the first task that waits waits for; empty: none does.
std::string WaitsFor(const v1::JobInfo& job);

// Is told how a job stands after an event of a kind ("final", ...).
using OnProgress = std::function<void(const v1::JobInfo& job, const std::string& kind)>;

struct WatchOptions {
  int64_t after_seq = 0;  // events up to this one were seen before
  // Ends the watch; asked several times a second, from another thread. nullptr: nothing ends it.
  std::function<bool()> stop = nullptr;
  OnProgress on_progress = nullptr;  // is told instead of stderr
  std::string label = "";            // before every line, where several jobs are watched at once
  // Whether a line says that the job waits, and for what; not where a device is on its way.
  bool says_waiting = true;
};

// Shows the job's progress on stderr until it has ended, or `stop` says so; then how it stands.
absl::StatusOr<v1::GetJobResponse> WatchToEnd(TuningClient& client, int64_t job,
                                              const WatchOptions& options);

// The kernels of a job that came with its tasks' texts (GetJob), as a JSON list or a table.
nlohmann::json TasksToJson(const v1::JobInfo& job);
void PrintTasks(const v1::JobInfo& job);

// Spent on the micro-kernels of the target, before a job and not of its budget.
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

// How a job has ended: OK, or why not all of its budget was spent, with the exit code.
absl::Status StateToStatus(const v1::JobInfo& job);

// Ctrl-C, SIGTERM and SIGHUP (unless it was ignored) no longer end this program from here on; how
// many there were.
void CatchInterrupts();
int Interrupts();
// From here on it counts as one that nobody reads this program's stdout any more: what asked for it
// is gone, and no job outlives its owner.
void InterruptWithoutReader();
// What a tune on this machine ends with after an interrupt: kCancelled, exit code 130.
absl::Status CheckInterrupts();

}  // namespace hone::cli

#endif  // HONE_CLI_JOB_PROGRESS_H_
