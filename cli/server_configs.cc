#include "cli/server_configs.h"

#include <utility>

#include "cli/micro_kernel_job.h"
#include "cli/tuning_client.h"
#include "support/status.h"
#include "tuner/model_final/kept_configs.h"

namespace hone::cli {
namespace {

class ServerConfigs : public driver::ConfigSource {
 public:
  ServerConfigs(const std::string& address, Verdicts verdicts)
      : client_(address), verdicts_(verdicts) {}

  absl::StatusOr<std::optional<std::vector<std::string>>> OpenModel(
      const std::string& skeleton, const CpuTarget& target) override {
    if (verdicts_ == Verdicts::kOfKernels) return std::nullopt;
    HONE_ASSIGN_OR_RETURN(const auto final, client_.GetModelFinal(skeleton, target.ToString()));
    if (!final) return std::nullopt;
    kept_.Add(*final);
    return final->signatures;
  }

  absl::StatusOr<std::optional<driver::ConfigChoice>> Find(const schedule::Task& task) override {
    v1::GetConfigsRequest request;
    request.set_target(task.target.ToString());
    v1::ConfigKey& key = *request.add_keys();
    key.set_workload_digest(task.def->workload.digest);
    key.set_signature(task.signature.ToString());
    HONE_ASSIGN_OR_RETURN(const v1::GetConfigsResponse response, client_.GetConfigs(request));
    if (response.configs_size() != 1) return std::nullopt;
    const v1::BestConfig& found = response.configs(0);
    tuning_db::Best best;
    best.tier = found.tier().empty() ? tuning_db::Tier::kNone : tuning_db::Tier::kTuning;
    best.config = found.config();
    best.nest_digest = found.nest_digest();
    kept_.Apply(key.workload_digest(), key.signature(), best);
    if (best.config.empty()) return std::nullopt;
    HONE_ASSIGN_OR_RETURN(schedule::Config config, schedule::Config::Parse(best.config));
    return driver::ConfigChoice{.tier = found.tier().empty() ? "default" : found.tier(),
                                .config = std::move(config),
                                .stored = best.config,
                                .nest_digest = best.nest_digest,
                                .best_ns = found.best_ns()};
  }

  absl::StatusOr<std::shared_ptr<const schedule::MicroKernelTimes>> MicroKernels(
      const CpuTarget& target) override {
    HONE_ASSIGN_OR_RETURN(const MicroKernelCosts costs, MicroKernelCostsOf(client_, target));
    return schedule::MicroKernelTimes::Of(target, costs);
  }

 private:
  TuningClient client_;
  const Verdicts verdicts_;
  tuner::KeptConfigs kept_;
};

}  // namespace

std::unique_ptr<driver::ConfigSource> MakeServerConfigs(const std::string& address,
                                                        Verdicts verdicts) {
  return std::make_unique<ServerConfigs>(address, verdicts);
}

}  // namespace hone::cli
