#include "compiler/schedule/strategy.h"

#include <algorithm>
#include <iterator>

namespace hone::schedule {

void StrategiesPlan::Add(std::string_view name, std::unique_ptr<const Plan> plan) {
  if (plan != nullptr) strategies_.emplace_back(name, std::move(plan));
}

const Plan* StrategiesPlan::Find(std::string_view name) const {
  const auto found = std::ranges::find(
      strategies_, name, [](const auto& strategy) { return std::string_view(strategy.first); });
  return found == strategies_.end() ? nullptr : found->second.get();
}

std::optional<Knob> StrategiesPlan::NextKnob(const Config& prefix) const {
  if (prefix.Has("strategy")) return Of(prefix).NextKnob(prefix);
  Knob knob{.name = "strategy", .options = {}, .legacy_value = legacy_};
  for (const auto& [name, plan] : strategies_) knob.options.emplace_back(name);
  return knob;
}

std::vector<PricedConfig> StrategiesPlan::RankedOf(std::string_view name) const {
  std::vector<PricedConfig> ranked = Find(name)->Ranked();
  for (PricedConfig& priced : ranked) priced.config.Set("strategy", std::string(name));
  return ranked;
}

std::vector<PricedConfig> StrategiesPlan::Ranked() const {
  std::vector<PricedConfig> ranked;
  for (const auto& [name, plan] : strategies_) {
    std::ranges::move(RankedOf(name), std::back_inserter(ranked));
  }
  std::ranges::stable_sort(ranked, {}, &PricedConfig::cycles);
  return ranked;
}

absl::StatusOr<loop::Nest> StrategiesPlan::Schedule(const Config& config) const {
  return Of(config).Schedule(config);
}

std::optional<double> StrategiesPlan::Amplification(const Config& config) const {
  return Of(config).Amplification(config);
}

}  // namespace hone::schedule
