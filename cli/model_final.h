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

// Returns a final for each specialisation of each model of `work`, in order. The winners come from
// the daemon at `address`, which also stores new finals. If the contenders are those of a model's
// stored final, that final is returned and nothing is timed. Nothing else may run on this machine
// meanwhile. kCancelled after an interrupt (job_progress.h).
absl::StatusOr<std::vector<tuning_db::ModelFinal>> RunModelFinals(const TuningRequest& request,
                                                                  const TuningWork& work,
                                                                  const std::string& address);

}  // namespace hone::cli

#endif  // HONE_CLI_MODEL_FINAL_H_
