#include "cli/server_configs.h"

#include <map>
#include <utility>

#include "cli/micro_kernel_job.h"
#include "cli/tuning_client.h"
#include "fmt/format.h"
#include "support/status.h"
#include "tuner/model_final/kept_configs.h"
#include "tuner/model_final/model_final_message.h"

namespace hone::cli {
namespace {

using Key = std::pair<std::string, std::string>;  // workload digest and signature

Key KeyOf(const schedule::Task& task) {
  return {task.def->workload.digest, task.signature.ToString()};
}

// All of a model in one call, before anything of it is asked for; what nobody announced costs a
// call of its own.
class ServerConfigs : public driver::ConfigSource {
 public:
  ServerConfigs(const std::string& address, Verdicts verdicts)
      : client_(address), verdicts_(verdicts) {}

  absl::Status Expect(const std::string& skeleton, const Target& target,
                      const std::vector<schedule::Task>& tasks) override {
    v1::GetConfigsRequest request;
    request.set_target(target.ToString());
    std::vector<Key> keys;
    std::map<Key, v1::BestConfig>& known = known_[request.target()];
    for (const schedule::Task& task : tasks) {
      if (known.try_emplace(KeyOf(task)).second) keys.push_back(KeyOf(task));
    }
    for (const Key& key : keys) Add(key, request);
    const CpuTarget* const cpu = target.AsCpu();
    if (cpu != nullptr && !micro_kernels_.contains(request.target())) {
      AskForMicroKernels(*cpu, request);
    }
    if (verdicts_ == Verdicts::kOfModels) request.set_skeleton(skeleton);
    const bool is_new_model =
        !request.skeleton().empty() && !finals_.contains(Key(request.skeleton(), request.target()));
    if (keys.empty() && request.calibrations_size() == 0 && !is_new_model) return absl::OkStatus();
    const absl::StatusOr<v1::GetConfigsResponse> response = Ask(request);
    if (!response.ok()) {
      for (const Key& key : keys) known.erase(key);
      return response.status();
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      known[keys[i]] = response->configs(static_cast<int>(i));
    }
    if (!response->is_of_model()) return absl::OkStatus();
    if (request.calibrations_size() > 0) {
      micro_kernels_[request.target()] = MicroKernelCostsIn(*response);
    }
    if (!request.skeleton().empty()) {
      auto& final = finals_[{request.skeleton(), request.target()}];
      if (response->has_final()) final = tuner::FromProto(response->final());
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::optional<std::vector<std::string>>> OpenModel(const std::string& skeleton,
                                                                    const Target& target) override {
    if (verdicts_ == Verdicts::kOfKernels) return std::nullopt;
    const Key key(skeleton, target.ToString());
    if (!finals_.contains(key)) {
      HONE_ASSIGN_OR_RETURN(finals_[key], client_.GetModelFinal(key.first, key.second));
    }
    const std::optional<tuning_db::ModelFinal>& final = finals_[key];
    if (!final) return std::nullopt;
    kept_.Add(*final);
    return final->signatures;
  }

  absl::StatusOr<std::optional<driver::ConfigChoice>> Find(const schedule::Task& task) override {
    HONE_ASSIGN_OR_RETURN(const v1::BestConfig found, BestOf(task));
    const Key key = KeyOf(task);
    tuning_db::Best best;
    best.tier = found.tier().empty() ? tuning_db::Tier::kNone : tuning_db::Tier::kTuning;
    best.config = found.config();
    best.nest_digest = found.nest_digest();
    kept_.Apply(key.first, key.second, best);
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
    const auto known = micro_kernels_.find(target.ToString());
    if (known != micro_kernels_.end()) {
      return schedule::MicroKernelTimes::Of(target, known->second);
    }
    HONE_ASSIGN_OR_RETURN(const MicroKernelCosts costs, MicroKernelCostsOf(client_, target));
    return schedule::MicroKernelTimes::Of(target, costs);
  }

 private:
  static void Add(const Key& key, v1::GetConfigsRequest& request) {
    v1::ConfigKey& added = *request.add_keys();
    added.set_workload_digest(key.first);
    added.set_signature(key.second);
  }

  absl::StatusOr<v1::GetConfigsResponse> Ask(const v1::GetConfigsRequest& request) {
    HONE_ASSIGN_OR_RETURN(v1::GetConfigsResponse response, client_.GetConfigs(request));
    if (response.configs_size() == request.keys_size()) return response;
    return absl::InternalError(
        fmt::format("expected {} configs of the tuning server, found {}; is it of another version?",
                    request.keys_size(), response.configs_size()));
  }

  absl::StatusOr<v1::BestConfig> BestOf(const schedule::Task& task) {
    v1::GetConfigsRequest request;
    request.set_target(task.target.ToString());
    const Key key = KeyOf(task);
    std::map<Key, v1::BestConfig>& known = known_[request.target()];
    if (const auto found = known.find(key); found != known.end()) return found->second;
    Add(key, request);
    HONE_ASSIGN_OR_RETURN(const v1::GetConfigsResponse response, Ask(request));
    return known[key] = response.configs(0);
  }

  TuningClient client_;
  const Verdicts verdicts_;
  // What the daemon said when it was asked, the first two by target.
  std::map<std::string, std::map<Key, v1::BestConfig>> known_;
  std::map<std::string, MicroKernelCosts> micro_kernels_;
  std::map<Key, std::optional<tuning_db::ModelFinal>> finals_;  // by skeleton and target
  tuner::KeptConfigs kept_;
};

}  // namespace

std::unique_ptr<driver::ConfigSource> MakeServerConfigs(const std::string& address,
                                                        Verdicts verdicts) {
  return std::make_unique<ServerConfigs>(address, verdicts);
}

}  // namespace hone::cli
