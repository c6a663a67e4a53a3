// Finals of models, for people and for programs.
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
// Tasks, by their workloads' digests and signatures.
using TaskKeys = std::set<std::pair<std::string, std::string>>;

// What tuning won of a model, as a sentence. `untried`: tasks that no trial was measured of.
std::string VerdictOf(const tuning_db::ModelFinal& final, const TaskKeys& untried);

// Prints on stdout what each kernel gains where it stands, and a sentence on each model.
void PrintModelFinals(const std::vector<tuning_db::ModelFinal>& finals, const TaskKeys& untried);

}  // namespace hone::cli

#endif  // HONE_CLI_MODEL_FINAL_REPORT_H_
