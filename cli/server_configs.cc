#include "cli/server_configs.h"

#include <utility>

#include "cli/micro_kernel_job.h"
#include "cli/tuning_client.h"
#include "support/status.h"

namespace hone::cli {
namespace {

class ServerConfigs : public driver::ConfigSource {
 public:
  explicit ServerConfigs(const std::string& address) : client_(address) {}

  absl::StatusOr<std::optional<driver::ConfigChoice>> Find(const schedule::Task& task) override {
    v1::GetConfigsRequest request;
    request.set_target(task.target.ToString());
    v1::ConfigKey& key = *request.add_keys();
    key.set_workload_digest(task.def->workload.digest);
    key.set_signature(task.signature.ToString());
    HONE_ASSIGN_OR_RETURN(const v1::GetConfigsResponse response, client_.GetConfigs(request));
    if (response.configs_size() != 1 || response.configs(0).tier().empty()) return std::nullopt;
    const v1::BestConfig& best = response.configs(0);
    HONE_ASSIGN_OR_RETURN(schedule::Config config, schedule::Config::Parse(best.config()));
    return driver::ConfigChoice{.tier = best.tier(),
                                .config = std::move(config),
                                .nest_digest = best.nest_digest(),
                                .best_ns = best.best_ns()};
  }

  absl::StatusOr<std::shared_ptr<const schedule::MicroKernelTimes>> MicroKernels(
      const Target& target) override {
    HONE_ASSIGN_OR_RETURN(const MicroKernelCosts costs, MicroKernelCostsOf(client_, target));
    return schedule::MicroKernelTimes::Of(target, costs);
  }

 private:
  TuningClient client_;
};

}  // namespace

std::unique_ptr<driver::ConfigSource> MakeServerConfigs(const std::string& address) {
  return std::make_unique<ServerConfigs>(address);
}

}  // namespace hone::cli
