#include "compiler/schedule/generic/stages.h"

#include <limits>
#include <utility>

#include "compiler/schedule/templates.h"

namespace hone::schedule {
namespace {

class StagesPlan final : public Plan {
 public:
  explicit StagesPlan(std::unique_ptr<const Plan> generic) : generic_(std::move(generic)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    return generic_->NextKnob(prefix);
  }
  std::vector<PricedConfig> Ranked() const override {
    std::vector<PricedConfig> ranked = generic_->Ranked();
    for (PricedConfig& priced : ranked) priced.cycles = std::numeric_limits<double>::infinity();
    return ranked;
  }
  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return generic_->Schedule(config);
  }

 private:
  const std::unique_ptr<const Plan> generic_;
};

}  // namespace

std::unique_ptr<const Plan> OpenStages(const Task& task) {
  return std::make_unique<StagesPlan>(GenericTemplate().Open(task));
}

}  // namespace hone::schedule
