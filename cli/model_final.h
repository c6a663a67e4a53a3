// The final of a model: its kernels' winners against its untuned module, timed as a whole and
// kernel by kernel on this machine (docs/decisions/0015).
#ifndef HONE_CLI_MODEL_FINAL_H_
#define HONE_CLI_MODEL_FINAL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/tuning_client.h"
#include "cli/tuning_request.h"
#include "tuning_db/model_final.h"

namespace hone::cli {

// One for each specialisation of each model of `work`, in order, from the daemon at `address`,
// which stores what is new. A final whose contenders are as they were is returned as it is. Nothing
// else may run on this machine meanwhile. kCancelled after an interrupt (job_progress.h).
absl::StatusOr<std::vector<tuning_db::ModelFinal>> RunModelFinals(const TuningRequest& request,
                                                                  const TuningWork& work,
                                                                  const std::string& address);

}  // namespace hone::cli

#endif  // HONE_CLI_MODEL_FINAL_H_
