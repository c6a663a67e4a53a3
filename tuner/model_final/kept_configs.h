// Which config each kernel of a model keeps, from the finals of its specialisations.
#ifndef HONE_TUNER_MODEL_FINAL_KEPT_CONFIGS_H_
#define HONE_TUNER_MODEL_FINAL_KEPT_CONFIGS_H_

#include <map>
#include <string>
#include <utility>

#include "tuning_db/model_final.h"
#include "tuning_db/resolve.h"

namespace hone::tuner {

// A verdict on a kernel is about the winner that its own final had. Not thread-safe.
class KeptConfigs {
 public:
  // Where an earlier final named a kernel, its verdict stays.
  void Add(const tuning_db::ModelFinal& final);
  // Puts the config that was kept in the place of `best`, where that is the winner that was judged,
  // or where nothing was measured of the kernel alone (its tier stays kNone).
  void Apply(const std::string& workload_digest, const std::string& signature,
             tuning_db::Best& best) const;

 private:
  std::map<std::pair<std::string, std::string>, tuning_db::ModelFinalKernel> kernels_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_MODEL_FINAL_KEPT_CONFIGS_H_
