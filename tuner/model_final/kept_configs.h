// Keeps the config that each kernel of a model runs, as chosen by the finals of the model's
// specialisations.
#ifndef HONE_TUNER_MODEL_FINAL_KEPT_CONFIGS_H_
#define HONE_TUNER_MODEL_FINAL_KEPT_CONFIGS_H_

#include <map>
#include <string>
#include <utility>

#include "tuning_db/model_final.h"
#include "tuning_db/resolve.h"

namespace hone::tuner {

// A model's final judges a kernel against the winner of the kernel's own final. Not thread-safe.
class KeptConfigs {
 public:
  // Adds the verdicts of a final. A kernel that an earlier added final named keeps that verdict.
  void Add(const tuning_db::ModelFinal& final);
  // Replaces the config of `best` by the one that was kept, if `best` is the winner that was
  // judged, or if the kernel alone was never measured (its tier, kNone, stays).
  void Apply(const std::string& workload_digest, const std::string& signature,
             tuning_db::Best& best) const;

 private:
  std::map<std::pair<std::string, std::string>, tuning_db::ModelFinalKernel> kernels_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_MODEL_FINAL_KEPT_CONFIGS_H_
