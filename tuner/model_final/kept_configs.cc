#include "tuner/model_final/kept_configs.h"

namespace hone::tuner {

void KeptConfigs::Add(const tuning_db::ModelFinal& final) {
  for (const tuning_db::ModelFinalKernel& kernel : final.kernels) {
    kernels_.try_emplace({kernel.workload_digest, kernel.signature}, kernel);
  }
}

void KeptConfigs::Apply(const std::string& workload_digest, const std::string& signature,
                        tuning_db::Best& best) const {
  const auto found = kernels_.find({workload_digest, signature});
  if (found == kernels_.end()) return;
  const tuning_db::ModelFinalKernel& kernel = found->second;
  const bool is_judged = best.config == kernel.winner || best.tier == tuning_db::Tier::kNone;
  if (!is_judged || best.config == kernel.kept) return;
  best.config = kernel.kept;
  best.nest_digest = kernel.kept_nest_digest;
}

}  // namespace hone::tuner
