#include "cli/model_contender.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "cli/compiled_model.h"
#include "support/status.h"

namespace hone::cli {
namespace {

// Layouts that are given, and the configs of a contender.
class GivenConfigs final : public driver::ConfigSource {
 public:
  explicit GivenConfigs(const ModelContender& contender) : layouts_(contender.layouts) {
    for (const driver::KernelReport& kernel : contender.kernels) {
      kernels_[{kernel.workload_digest, kernel.signature}] = kernel;
    }
  }

  absl::StatusOr<std::optional<std::vector<std::string>>> OpenModel(const std::string&,
                                                                    const Target&) override {
    return layouts_;
  }

  absl::StatusOr<std::optional<driver::ConfigChoice>> Find(const schedule::Task& task) override {
    const auto found = kernels_.find({task.def->workload.digest, task.signature.ToString()});
    if (found == kernels_.end()) return std::nullopt;
    HONE_ASSIGN_OR_RETURN(schedule::Config config, schedule::Config::Parse(found->second.config));
    return driver::ConfigChoice{.tier = found->second.tier,
                                .config = std::move(config),
                                .nest_digest = found->second.nest_digest};
  }

 private:
  const std::vector<std::string> layouts_;
  std::map<std::pair<std::string, std::string>, driver::KernelReport> kernels_;
};

}  // namespace

bool ModelContender::operator==(const ModelContender& other) const {
  return layouts == other.layouts &&
         std::ranges::equal(kernels, other.kernels, [](const auto& a, const auto& b) {
           return a.workload_digest == b.workload_digest && a.signature == b.signature &&
                  a.nest_digest == b.nest_digest && a.config == b.config;
         });
}

absl::StatusOr<ModelContender> ChooseContender(const ir::Module& module, const Target& target,
                                               std::unique_ptr<driver::ConfigSource> configs,
                                               const std::vector<std::string>& layouts) {
  driver::ConfigChain chain;
  if (!layouts.empty()) {
    chain.Add(std::make_unique<GivenConfigs>(
        ModelContender{.skeleton = "", .layouts = layouts, .kernels = {}}));
  }
  if (configs != nullptr) chain.Add(std::move(configs));
  HONE_ASSIGN_OR_RETURN(driver::CompileReport report, driver::ChooseKernels(module, target, chain));
  return ModelContender{.skeleton = std::move(report.specialisations[0].skeleton),
                        .layouts = std::move(report.specialisations[0].layouts),
                        .kernels = std::move(report.kernels)};
}

absl::StatusOr<TimedModel> CompileContender(const ir::Module& module, const Target& target,
                                            const ModelContender& contender) {
  driver::ConfigChain chain;
  chain.Add(std::make_unique<GivenConfigs>(contender));
  HONE_ASSIGN_OR_RETURN(CompiledModel compiled, CompileForNow({module}, target, chain));
  return TimedModel::Of(std::move(compiled), {});
}

}  // namespace hone::cli
