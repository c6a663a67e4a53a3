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

// "90", "90s", "10m", "2h", "7d" as nanoseconds; 0 where it is empty.
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
  // One request a target, each for one only. Exit code 2 where a target is named twice.
  absl::StatusOr<std::vector<TuningRequest>> Split() const;
};

// What --sandbox and --device-class say of whoever measures for a job.
void SetDevices(const TuningRequest& request, v1::JobSpec& spec);

// A request that is carried out, one job after the other: layouts that are chosen by prediction are
// measured, and what is measured may make others seem better.
struct TuningWork {
  Target target;
  std::vector<std::vector<ir::Module>> models;              // the specialisations of each
  std::set<std::pair<std::string, std::string>> submitted;  // workload digests and signatures
  // What is to be tuned next of all models; one entry a task and signature, weights added.
  driver::ModelTasks tasks;
  v1::JobSpec spec;  // of these
};
// With --server and no --target, for the farm's only target; exit code 2 names its targets where
// it has another number of them. Loads the models; the first tasks are those of the layouts that
// seem best by what the database, or the server's, has measured, and those of an untuned compile
// that were not.
absl::StatusOr<TuningWork> Prepare(const TuningRequest& request);

// Says on stderr where its trials may be too few for tier `tuned`. For who was not refused: others
// read what is wrong first.
void NoteFewTrials(const TuningRequest& request);

// Whether it was asked for what compiles missed, and nothing was.
bool IsIdle(const TuningRequest& request, const TuningWork& work);

// Trials that the work's tasks may have, each no more than its space; counted up to `limit`.
absl::StatusOr<int64_t> BudgetOf(const TuningWork& work, int64_t limit);

// The tasks that are new by what has been measured since; none where nothing is. `limit_ns`: of the
// next job, 0 for none.
absl::Status Advance(const TuningRequest& request, passes::LayoutAim aim, int64_t limit_ns,
                     TuningWork& work);

}  // namespace hone::cli

#endif  // HONE_CLI_TUNING_REQUEST_H_
