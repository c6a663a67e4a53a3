#include "compiler/schedule/micro_kernels.h"

#include <algorithm>
#include <iterator>

#include "compiler/ops/lower.h"
#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/open_task.h"
#include "compiler/schedule/price/register_tile.h"
#include "fmt/format.h"

namespace hone::schedule {
namespace {

// The workload, and what it takes of the templates.
class Product {
 public:
  Product(const CpuTarget& target, int64_t rows, int64_t steps, int64_t units)
      : def_(*ops::LowerWorkload(
            fmt::format("fn (p0: Tensor[({0}, {1}), float32], const p1: Tensor[({2}, {1}), "
                        "float32]) {{ nn.dense(p0, p1) }} accumulate=float32 numerics=default",
                        rows, steps, units))),
        open_(*OpenTask::Open({&def_,
                               TemplateFor(def_).Signatures(def_, machine::Machine::For(target))[0],
                               target})) {}
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  std::vector<Config> Configs() const { return TileConfigs(open_.space()); }
  MicroKernelTask Named(std::string name) const {
    std::vector<std::string> configs;
    for (const Config& config : Configs()) configs.push_back(config.ToText());
    return {std::move(name),
            def_.workload.text,
            def_.workload.digest,
            open_.task().signature.ToString(),
            open_.task().target.ToString(),
            std::move(configs)};
  }

 private:
  const ops::KernelDefinition def_;
  const OpenTask open_;
};

// Most tiles divide the rows and the vectors, and others leave little over. So many steps of the
// widest tile stay in a first cache of 32 KiB, beside the rows of the tile.
constexpr int64_t kRows = 168;
constexpr int64_t kVectors = 24;
constexpr int64_t kSteps = 64;

Product Tiles(const CpuTarget& target) {
  return Product(target, kRows, kSteps, kVectors * target.VectorLanes());
}

// Weights of one row, several times what the second cache holds; a number of terms that no layer of
// a model has: a task's trials count for whoever wants it.
constexpr int64_t kStreamSteps = 1004;

int64_t StreamUnits(const CpuTarget& target) {
  constexpr int64_t kLeast = 256 << 10, kMost = 16 << 20;  // of second caches
  const int64_t vector_bytes = kStreamSteps * target.VectorLanes() * 4;
  const int64_t bytes = 4 * std::clamp(target.facts.l2_bytes, kLeast, kMost);
  return CeilDiv(bytes, vector_bytes) * target.VectorLanes();
}

int64_t StreamBytes(const CpuTarget& target) { return kStreamSteps * StreamUnits(target) * 4; }

Product Stream(const CpuTarget& target) {
  return Product(target, 1, kStreamSteps, StreamUnits(target));
}

// The bytes of constants of the stream's model: as many as leave its weights in the last-level
// cache.
int64_t StreamModelBytes(const CpuTarget& target) {
  return std::min(4 * StreamBytes(target), target.facts.l3_bytes / 2);
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

using MeasuredConfigs = std::vector<std::pair<Config, double>>;

// The newest time of each config, without those that have none; nullopt: not all are settled, or
// all failed.
std::optional<MeasuredConfigs> MeasuredIn(const std::vector<Config>& configs,
                                          const std::vector<ConfigCost>& costs) {
  std::map<std::string, double> by_config;
  for (const ConfigCost& cost : costs) {
    double& newest = by_config[cost.config];
    if (cost.cost > 0) newest = cost.cost;
  }
  MeasuredConfigs measured;
  for (const Config& config : configs) {
    const auto found = by_config.find(config.ToText());
    if (found == by_config.end()) return std::nullopt;
    if (found->second > 0) measured.emplace_back(config, found->second);
  }
  if (measured.empty()) return std::nullopt;
  return measured;
}

// With those that could not be built.
std::vector<ConfigCost> BuiltBy(const std::string& toolchain,
                                const std::vector<ConfigCost>& costs) {
  std::vector<ConfigCost> built;
  std::ranges::copy_if(costs, std::back_inserter(built), [&](const ConfigCost& cost) {
    return cost.toolchain == toolchain || cost.toolchain.empty();
  });
  return built;
}

struct WholeTask {
  MeasuredConfigs measured;
  std::string toolchain;  // empty: of several
};

// The times with the preferred toolchain, or with the newest that has all; those of several only
// where none has: once all configs are settled no other will get more.
std::optional<WholeTask> WholeOf(const Product& product, const std::vector<ConfigCost>& costs,
                                 const std::string& preferred) {
  const std::vector<Config> configs = product.Configs();
  std::vector<std::string> toolchains = {preferred};
  for (auto cost = costs.rbegin(); cost != costs.rend(); ++cost) {
    if (toolchains.back() != cost->toolchain) toolchains.push_back(cost->toolchain);
  }
  for (const std::string& toolchain : toolchains) {
    auto measured = MeasuredIn(configs, BuiltBy(toolchain, costs));
    if (measured) return WholeTask{*std::move(measured), toolchain};
  }
  auto measured = MeasuredIn(configs, costs);
  if (!measured) return std::nullopt;
  return WholeTask{*std::move(measured), ""};
}

// That of the first quarter: tiles of few vectors wait for their sums, not for the stream, and the
// least of many times is the one that was measured least exactly.
double CostOfStream(const MeasuredConfigs& measured) {
  std::vector<double> costs;
  for (const auto& [config, cost] : measured) costs.push_back(cost);
  const auto quarter = costs.begin() + static_cast<ptrdiff_t>(costs.size() / 4);
  std::nth_element(costs.begin(), quarter, costs.end());
  return *quarter;
}

Measured MeasuredAs(const Config& config, double cost) {
  Measured measured{TileOf(config), 0};
  measured.cost = cost * measured.Products() / static_cast<double>(kRows * kVectors * kSteps);
  return measured;
}

}  // namespace

std::vector<MicroKernelTask> MicroKernelTasksOf(const CpuTarget& target) {
  CpuTarget single = target;
  single.threads = 1;
  std::vector<MicroKernelTask> tasks = {Tiles(single).Named("tiles"),
                                        Stream(single).Named("stream")};
  tasks.back().constant_bytes = StreamModelBytes(single);
  return tasks;
}

std::vector<Config> TileConfigs(const Space& space) {
  std::vector<Config> leaves;
  Walk(space, Config(), &leaves);
  return leaves;
}

std::shared_ptr<const MicroKernelTimes> MicroKernelTimes::Of(
    const CpuTarget& target, const std::vector<std::vector<ConfigCost>>& costs) {
  if (costs.size() != 2) return nullptr;
  const auto tiles = WholeOf(Tiles(target), costs[0], "");
  if (!tiles) return nullptr;
  const auto streams = WholeOf(Stream(target), costs[1], tiles->toolchain);
  std::vector<Measured> all;
  for (const auto& [config, cost] : tiles->measured) all.push_back(MeasuredAs(config, cost));
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
  std::optional<double> stream;
  if (streams) {
    const double cycles = cycles_of_cost * CostOfStream(streams->measured);
    stream = static_cast<double>(StreamBytes(target)) / cycles;
  }
  return std::make_shared<const MicroKernelTimes>(std::move(step_cycles), stream);
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

std::optional<double> StreamBytesOf(const MicroKernelTimes* measured,
                                    const machine::Machine& machine) {
  if (measured != nullptr && measured->StreamBytesACycle()) return measured->StreamBytesACycle();
  return machine.memory.l3.stream_bytes_a_cycle;
}

}  // namespace hone::schedule
