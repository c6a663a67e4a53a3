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
  TunedConfigs(std::unique_ptr<tuning_db::Store> store, Verdicts verdicts)
      : store_(std::move(store)), verdicts_(verdicts) {}

  absl::StatusOr<std::optional<std::vector<std::string>>> OpenModel(const std::string& skeleton,
                                                                    const Target& target) override {
    if (verdicts_ == Verdicts::kOfKernels) return std::nullopt;
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
    if (best[0].tier == tuning_db::Tier::kNone) return std::nullopt;
    kept_.Apply(key.workload_digest, key.signature, best[0]);
    HONE_ASSIGN_OR_RETURN(schedule::Config config, schedule::Config::Parse(best[0].config));
    return driver::ConfigChoice{.tier = std::string(tuning_db::Name(best[0].tier)),
                                .config = std::move(config),
                                .nest_digest = best[0].nest_digest,
                                .best_ns = best[0].best_ns};
  }

  absl::StatusOr<std::shared_ptr<const schedule::MicroKernelTimes>> MicroKernels(
      const Target& target) override {
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
  const Verdicts verdicts_;
  tuner::KeptConfigs kept_;
};

}  // namespace

std::unique_ptr<driver::ConfigSource> MakeTunedConfigs(std::unique_ptr<tuning_db::Store> store,
                                                       Verdicts verdicts) {
  return std::make_unique<TunedConfigs>(std::move(store), verdicts);
}

}  // namespace hone::cli
