// Prints finals of models, as text and as JSON.
#ifndef HONE_CLI_MODEL_FINAL_REPORT_H_
#define HONE_CLI_MODEL_FINAL_REPORT_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "tuning_db/model_final.h"

namespace hone::cli {

// models[] {name, default_us, tuned_us, ratio, ratio_low, ratio_high, gain, rounds, kernels[]
// {name, workload_digest, signature, calls, kept, default_us, tuned_us, ratio, ratio_low,
// ratio_high}}.
nlohmann::json ModelFinalsToJson(const std::vector<tuning_db::ModelFinal>& finals);
// Tasks, each by the digest of its workload and its signature.
using TaskKeys = std::set<std::pair<std::string, std::string>>;

// A sentence that says what tuning gained for the model. `untried` are the tasks without a measured
// trial.
std::string VerdictOf(const tuning_db::ModelFinal& final, const TaskKeys& untried);

// Prints on stdout what each kernel gains in its place in the model, and a sentence on each model.
void PrintModelFinals(const std::vector<tuning_db::ModelFinal>& finals, const TaskKeys& untried);

}  // namespace hone::cli

#endif  // HONE_CLI_MODEL_FINAL_REPORT_H_
