#include "cli/tuned_configs.h"

#include <utility>

#include "compiler/ir/compatible_targets.h"
#include "support/status.h"
#include "tuner/calibration/micro_kernels_in.h"
#include "tuner/model_final/kept_configs.h"
#include "tuning_db/resolve.h"

namespace hone::cli {
namespace {

class TunedConfigs : public driver::ConfigSource {
 public:
  explicit TunedConfigs(std::unique_ptr<tuning_db::Store> store) : store_(std::move(store)) {}

  absl::StatusOr<std::optional<std::vector<std::string>>> OpenModel(const std::string& skeleton,
                                                                    const Target& target) override {
    HONE_ASSIGN_OR_RETURN(const auto final, store_->NewestModelFinal(skeleton, target.ToString()));
    if (!final) return std::nullopt;
    kept_.Add(*final);
    return final->signatures;
  }

  absl::StatusOr<std::optional<driver::ConfigChoice>> Find(const schedule::Task& task) override {
    const tuning_db::ResolveKey key{.workload_digest = task.def->workload.digest,
                                    .signature = task.signature.ToString()};
    HONE_ASSIGN_OR_RETURN(
        std::vector<tuning_db::Best> best,
        tuning_db::Resolve(*store_, task.target.ToString(), {key}, IsCompatibleWith(task.target)));
    kept_.Apply(key.workload_digest, key.signature, best[0]);
    if (best[0].config.empty()) return std::nullopt;
    HONE_ASSIGN_OR_RETURN(schedule::Config config, schedule::Config::Parse(best[0].config));
    const bool is_default = best[0].tier == tuning_db::Tier::kNone;
    return driver::ConfigChoice{
        .tier = is_default ? "default" : std::string(tuning_db::Name(best[0].tier)),
        .config = std::move(config),
        .stored = best[0].config,
        .nest_digest = best[0].nest_digest,
        .best_ns = best[0].best_ns};
  }

  absl::StatusOr<std::shared_ptr<const schedule::MicroKernelTimes>> MicroKernels(
      const CpuTarget& target) override {
    return tuner::MicroKernelsIn(*store_, target);
  }

 private:
  static tuning_db::IsCompatible IsCompatibleWith(const Target& target) {
    return [target](const std::string& text) {
      const absl::StatusOr<Target> other = Target::Parse(text);
      return other.ok() && AreCompatible(*other, target);
    };
  }

  std::unique_ptr<tuning_db::Store> store_;
  tuner::KeptConfigs kept_;
};

}  // namespace

std::unique_ptr<driver::ConfigSource> MakeTunedConfigs(std::unique_ptr<tuning_db::Store> store) {
  return std::make_unique<TunedConfigs>(std::move(store));
}

}  // namespace hone::cli
