// Strategies: several ways to schedule the kernels of one family; one file each.
#ifndef HONE_COMPILER_SCHEDULE_STRATEGY_H_
#define HONE_COMPILER_SCHEDULE_STRATEGY_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/schedule/plan.h"
#include "compiler/schedule/template.h"

namespace hone::schedule {

// A task, and what its family sees of the kernel: all that a strategy knows.
template <typename Kernel>
struct Problem {
  Task task;
  Kernel kernel;
};

// A row of a family's table.
template <typename Kernel>
struct Strategy {
  // The value of the knob "strategy". It is in the table and nowhere else.
  std::string_view name;
  // nullptr: the strategy cannot schedule this kernel.
  std::unique_ptr<const Plan> (*open)(const std::shared_ptr<const Problem<Kernel>>& problem);
};

// A plan of several strategies: "strategy" is the first knob, and all others are those of the
// chosen strategy.
class StrategiesPlan : public Plan {
 public:
  // Configs that were recorded before there was a choice are of the strategy `legacy`.
  explicit StrategiesPlan(std::string legacy) : legacy_(std::move(legacy)) {}

  // The options come in the order of these calls. If `plan` is nullptr, the strategy is not an
  // option.
  void Add(std::string_view name, std::unique_ptr<const Plan> plan);
  template <typename Kernel>
  void AddAll(const std::vector<Strategy<Kernel>>& table,
              const std::shared_ptr<const Problem<Kernel>>& problem) {
    for (const Strategy<Kernel>& strategy : table) Add(strategy.name, strategy.open(problem));
  }

  std::optional<Knob> NextKnob(const Config& prefix) const override;
  // The configs of all strategies by their cycles, the fewest first.
  std::vector<PricedConfig> Ranked() const override;
  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override;
  std::optional<double> Amplification(const Config& config) const override;

 protected:
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // The ranked configs of a strategy of this plan, with the knob "strategy" set to its name.
  std::vector<PricedConfig> RankedOf(std::string_view name) const;

 private:
  const Plan* Find(std::string_view name) const;
  const Plan& Of(const Config& config) const { return *Find(config.String("strategy")); }

  const std::string legacy_;
  std::vector<std::pair<std::string, std::unique_ptr<const Plan>>> strategies_;
};

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_STRATEGY_H_
