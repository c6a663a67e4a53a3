// Finals of models, for people and for programs.
#ifndef HONE_CLI_MODEL_FINAL_REPORT_H_
#define HONE_CLI_MODEL_FINAL_REPORT_H_

#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "tuning_db/model_final.h"

namespace hone::cli {

// models[] {name, default_us, tuned_us, ratio, ratio_low, ratio_high, gain, rounds, kernels[]
// {name, workload_digest, signature, calls, kept, default_us, tuned_us, ratio, ratio_low,
// ratio_high}}.
nlohmann::json ModelFinalsToJson(const std::vector<tuning_db::ModelFinal>& finals);
// On stdout: what each kernel gains where it stands, and a sentence on each model.
void PrintModelFinals(const std::vector<tuning_db::ModelFinal>& finals);

}  // namespace hone::cli

#endif  // HONE_CLI_MODEL_FINAL_REPORT_H_
