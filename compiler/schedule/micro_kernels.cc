#include "compiler/schedule/micro_kernels.h"

#include <algorithm>

#include "compiler/ops/lower.h"
#include "compiler/schedule/template.h"
#include "compiler/schedule/templates/register_tile.h"
#include "fmt/format.h"

namespace hone::schedule {
namespace {

// Most tiles divide the rows and the vectors, and others leave little over. So many steps of the
// widest tile stay in a first cache of 32 KiB, beside the rows of the tile.
constexpr int64_t kRows = 168;
constexpr int64_t kVectors = 24;
constexpr int64_t kSteps = 64;

std::string WorkloadText(const Target& target) {
  return fmt::format(
      "fn (p0: Tensor[({0}, {1}), float32], const p1: Tensor[({2}, {1}), float32]) {{ "
      "nn.dense(p0, p1) }} accumulate=float32 numerics=default",
      kRows, kSteps, kVectors * target.VectorLanes());
}

constexpr int64_t kUnroll = 4;

// Options that are measured.
std::vector<KnobValue> MeasuredOf(const Knob& knob) {
  if (knob.name.starts_with("tile_")) return knob.options;
  std::vector<KnobValue> options = {knob.options[0]};
  if (knob.name != "unroll") return options;
  for (const KnobValue& option : knob.options) {
    if (option == KnobValue(kUnroll)) options.push_back(option);
  }
  return options;
}

void Walk(const Space& space, const Config& prefix, std::vector<Config>* leaves) {
  const std::optional<Knob> knob = space.Next(prefix);
  if (!knob) {
    leaves->push_back(prefix);
    return;
  }
  for (const KnobValue& option : MeasuredOf(*knob)) {
    Config next = prefix;
    next.Set(knob->name, option);
    Walk(space, next, leaves);
  }
}

struct Measured {
  RegisterTile tile;
  double cost = 0;  // of one such tile

  std::pair<int64_t, int64_t> Key() const { return {tile.vectors, tile.rows * tile.columns}; }
  double Products() const {
    return static_cast<double>(tile.vectors * tile.rows * tile.columns * kSteps);
  }
};

Measured MeasuredAs(const Config& config, double cost) {
  Measured measured{TileOf(config), 0};
  measured.cost = cost * measured.Products() / static_cast<double>(kRows * kVectors * kSteps);
  return measured;
}

}  // namespace

MicroKernelTask MicroKernelTaskOf(const Target& target) {
  Target single = target;
  single.threads = 1;
  const ops::KernelDefinition def = *ops::LowerWorkload(WorkloadText(target));
  const Template& dense = TemplateFor(def);
  const Task task{&def, dense.Signatures(def, single)[0], single};
  return {def.workload.text, def.workload.digest, task.signature.ToString(), single.ToString(),
          static_cast<int64_t>(TileConfigs(dense.MakeSpace(task)).size())};
}

std::vector<Config> TileConfigs(const Space& space) {
  std::vector<Config> leaves;
  Walk(space, Config(), &leaves);
  return leaves;
}

std::shared_ptr<const MicroKernelTimes> MicroKernelTimes::Of(const Target& target,
                                                             const std::vector<ConfigCost>& costs) {
  std::map<std::string, double> by_config;
  for (const ConfigCost& cost : costs) by_config[cost.config] = cost.cost;
  const ops::KernelDefinition def = *ops::LowerWorkload(WorkloadText(target));
  const Template& dense = TemplateFor(def);
  const Task task{&def, dense.Signatures(def, target)[0], target};
  std::vector<Measured> all;
  for (const Config& config : TileConfigs(dense.MakeSpace(task))) {
    const auto found = by_config.find(config.ToText());
    if (found == by_config.end()) return nullptr;
    if (found->second > 0) all.push_back(MeasuredAs(config, found->second));
  }
  if (all.empty()) return nullptr;
  // So many in a unit of cost that no tile is faster than two multiplications a cycle.
  double cycles_of_cost = 0;
  for (const Measured& measured : all) {
    const double cycles = measured.Products() / 2 + TileOverhead(measured.tile);
    cycles_of_cost = std::max(cycles_of_cost, cycles / measured.cost);
  }
  ByTile step_cycles;
  for (const Measured& measured : all) {
    const double cycles = cycles_of_cost * measured.cost - TileOverhead(measured.tile);
    const double step = cycles / static_cast<double>(kSteps);
    const auto [known, is_new] = step_cycles.try_emplace(measured.Key(), step);
    if (!is_new) known->second = std::min(known->second, step);
  }
  return std::make_shared<const MicroKernelTimes>(std::move(step_cycles));
}

std::optional<double> MicroKernelTimes::StepCycles(int64_t vectors, int64_t positions) const {
  const auto after = step_cycles_.lower_bound({vectors, positions});
  if (after == step_cycles_.end() || after->first.first != vectors) return std::nullopt;
  const bool is_least = after == step_cycles_.begin() || std::prev(after)->first.first != vectors;
  if (is_least || after->first.second == positions) return after->second;
  const auto before = std::prev(after);
  const auto of = [](const auto& entry) { return static_cast<double>(entry->first.second); };
  const double share = (static_cast<double>(positions) - of(before)) / (of(after) - of(before));
  return before->second + share * (after->second - before->second);
}

}  // namespace hone::schedule
