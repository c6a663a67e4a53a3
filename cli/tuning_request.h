// What `hone tune` and `hone job submit` ask for: models, a target and a budget, as one job.
#ifndef HONE_CLI_TUNING_REQUEST_H_
#define HONE_CLI_TUNING_REQUEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/model_options.h"
#include "compiler/driver/compile.h"
#include "hone/v1/tuning.pb.h"

namespace hone::cli {

struct TuningRequest {
  std::vector<std::string> models;
  ModelOptions bindings;  // of all models
  TargetOptions target;
  int64_t trials = 64;
  std::string time;  // "90s"; empty: no limit
  std::string database;
  std::string server;
  uint64_t seed = 0;
  std::string search = "xgboost";

  void AddTo(CLI::App& verb);
};

// A request that can be carried out.
struct TuningWork {
  Target target;
  driver::ModelTasks tasks;  // of all models; one entry a task and signature, weights added
  v1::JobSpec spec;
};
// With --server and no --target, for the farm's only target; exit code 2 names its targets where
// it has another number of them. Loads the models.
absl::StatusOr<TuningWork> Prepare(const TuningRequest& request);

}  // namespace hone::cli

#endif  // HONE_CLI_TUNING_REQUEST_H_
