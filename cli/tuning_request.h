// What `hone tune` and `hone job submit` ask for: models, a target and a budget, as one job.
#ifndef HONE_CLI_TUNING_REQUEST_H_
#define HONE_CLI_TUNING_REQUEST_H_

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/model_options.h"
#include "compiler/driver/compile.h"
#include "hone/v1/tuning.pb.h"
#include "tuner/search_names.h"

namespace hone::cli {

// Reads "90s", "10m", "2h" or "7d" as nanoseconds; 0 for an empty text. Otherwise an error with
// exit code 2.
absl::StatusOr<int64_t> ParseDuration(const std::string& text);

struct TuningRequest {
  std::vector<std::string> models;
  ModelOptions bindings;  // of all models
  bool misses = false;    // also what compiles missed
  TargetOptions target;
  // The texts of --target where it is repeated: Split makes a request of each.
  std::vector<std::string> targets;
  int64_t trials = 64;
  std::string time;  // "90s"; empty: no limit
  std::string database;
  std::string server;
  uint64_t seed = 0;
  int priority = 0;
  std::string sandbox;       // "limits", "contained", "strict"; empty: what the server requires
  std::string device_class;  // tuner/farm/device_class.h; empty: any device
  bool full_budget = false;  // searches do not end early
  std::string search = std::string(tuner::kDefaultSearch.name);
  std::string micro_kernels = "auto";  // "auto", "always" or "never" measured first

  void AddTo(CLI::App& verb);
  // Returns one request for each target; without --target, only this request. Exit code 2 if a
  // target is named twice, or nothing is asked for.
  absl::StatusOr<std::vector<TuningRequest>> Split() const;
};

// Sets in `spec` what --sandbox and --device-class demand of the devices that measure for the job.
void SetDevices(const TuningRequest& request, v1::JobSpec& spec);

// The state of a request that is carried out as one job after the other: layouts are first chosen
// by predicted times, their kernels are measured, and the measurements may make other layouts seem
// better.
struct TuningWork {
  Target target;
  std::vector<std::vector<ir::Module>> models;              // the specialisations of each
  std::set<std::pair<std::string, std::string>> submitted;  // workload digests and signatures
  // The kernels of all models to be tuned next: one entry for each task and signature, with its
  // weights added up.
  driver::ModelTasks tasks;
  v1::JobSpec spec;  // of these
};
// Loads the models and collects the first tasks: the kernels of the layouts that seem best by what
// the database, or the server's, has measured, and the unmeasured kernels of an untuned compile.
// With --server and without --target, the target is the farm's only one; if it has not exactly one,
// an error with exit code 2 names its targets.
absl::StatusOr<TuningWork> Prepare(const TuningRequest& request);

// Notes on stderr if the request's trials may be too few for tier `tuned`. To be called once the
// request is accepted: a user whose request is refused should first read what is wrong with it.
void NoteFewTrials(const TuningRequest& request);

// Whether the request is only for kernels that compiles missed, and there are none.
bool IsIdle(const TuningRequest& request, const TuningWork& work);

// How many trials the work's tasks may have together, each no more than its space has configs;
// counted up to `limit`.
absl::StatusOr<int64_t> BudgetOf(const TuningWork& work, int64_t limit);

// Replaces the tasks of `work` by those that are new according to what has been measured since;
// there may be none. `limit_ns` is the time limit of the next job; 0: none.
absl::Status Advance(const TuningRequest& request, passes::LayoutAim aim, int64_t limit_ns,
                     TuningWork& work);

}  // namespace hone::cli

#endif  // HONE_CLI_TUNING_REQUEST_H_
