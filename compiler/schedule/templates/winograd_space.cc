#include "compiler/schedule/templates/winograd_space.h"

#include <algorithm>
#include <numeric>

#include "compiler/schedule/templates/register_tile.h"

namespace hone::schedule {
namespace {

constexpr char kPrefix[] = "winograd";
constexpr int64_t kTaps = 3;

// The transformed data of a block should leave room for the weights in the second cache, and a
// block be large enough that the weights are not read too often.
struct BlockLimits {
  int64_t most_tiles = 0;
  int64_t least_tiles = 12;
};

// Of a slice of blocks of `depth` slices of the result.
BlockLimits LimitsOf(const Conv& conv, const Target& target, const WinogradPlan& plan,
                     int64_t depth) {
  const int64_t bytes = plan.products * plan.products * conv.in * 4 * plan.Slices(conv, depth);
  BlockLimits limits;
  limits.most_tiles = std::max<int64_t>(1, target.l2_bytes * 3 / 2 / bytes);
  limits.least_tiles = CeilDiv(limits.least_tiles, depth);
  return limits;
}

// Slices of the result in a block: neighbours share those of the data. Of one at least, and of as
// many as leave room for a few tiles of each.
std::vector<int64_t> BlockDepths(const Conv& conv, const Target& target, const WinogradPlan& plan) {
  constexpr int64_t kFewTiles = 4;
  return EvenSizes(conv.depth, conv.depth, [&](int64_t depth) {
    return depth == 1 || LimitsOf(conv, target, plan, depth).most_tiles >= kFewTiles;
  });
}

std::vector<int64_t> BlockColumns(const WinogradPlan& plan, const BlockLimits& limits) {
  std::vector<int64_t> options = EvenSizes(plan.columns, plan.columns,
                                           [&](int64_t size) { return size <= limits.most_tiles; });
  const int64_t least = std::min<int64_t>(options.back(), 7);
  std::erase_if(options, [&](int64_t size) { return size < least; });
  KeepExact(plan.columns, &options);
  return options;
}

std::vector<int64_t> BlockRows(const WinogradPlan& plan, const BlockLimits& limits,
                               int64_t columns) {
  std::vector<int64_t> options = EvenSizes(
      plan.rows, plan.rows, [&](int64_t size) { return size * columns <= limits.most_tiles; });
  const int64_t least = std::min(options.back(), CeilDiv(limits.least_tiles, columns));
  std::erase_if(options, [&](int64_t size) { return size < least; });
  KeepExact(plan.rows, &options);
  return options;
}

RegisterTileProblem ProductProblem(const Conv& conv, int64_t rows, int64_t columns) {
  RegisterTileProblem problem;
  problem.vectors = conv.out_vectors;
  problem.rows = rows;
  problem.columns = columns;
  problem.steps = conv.in * conv.taps_d;
  problem.registers = conv.registers;
  return problem;
}

// Groups of output channels may be a part of the grid, where there are too few blocks for the
// threads; the data are transformed for each part then.
std::vector<int64_t> PartOptions(const Conv& conv, const Target& target, int64_t vectors) {
  std::vector<int64_t> options = {1};
  if (conv.out_vectors % vectors != 0) return options;
  const int64_t groups = conv.out_vectors / vectors;
  for (int64_t parts = 2; parts <= std::min<int64_t>(groups, 2 * target.threads); ++parts) {
    if (groups % parts == 0) options.push_back(parts);
  }
  return options;
}

std::vector<int64_t> UnrollsOf(const Conv& conv, const RegisterTile& tile) {
  // A last block of channels may be shorter.
  return UnrollOptions({2, 4, 8}, std::gcd(std::min(conv.lanes, conv.in), conv.in), tile);
}

std::vector<std::string> PadOptions(const Conv& conv) {
  if (!conv.copies_data) return {"none"};
  if (!conv.pads || !conv.operand_blocked) return {"copy"};
  return {"border", "copy"};
}

// 3x3 taps, stride and dilation one in height and width.
bool IsPlainInPlane(const Conv& conv) {
  const auto one = [](const ops::Shape& axes) {
    return axes[axes.size() - 1] == 1 && axes[axes.size() - 2] == 1;
  };
  return conv.taps_h == kTaps && conv.taps_w == kTaps && one(conv.window.strides) &&
         one(conv.window.dilation);
}

// Bytes a cycle from where so many of them stay between two uses.
double BytesPerCycle(const Target& target, double bytes) {
  if (bytes <= static_cast<double>(target.l2_bytes)) return 48;
  return bytes <= static_cast<double>(target.l3_bytes) ? 24 : 10;
}

// Of one core that does a block of tiles, `depth` slices of them, for one part of the output
// channels.
double BlockCycles(const Conv& conv, const Target& target, const WinogradPlan& plan, int64_t depth,
                   const RegisterTileProblem& problem, const RegisterTile& tile, int64_t parts) {
  const double positions = static_cast<double>(plan.products * plan.products);
  const double tiles = static_cast<double>(problem.rows * problem.columns);
  const double multiply = positions * static_cast<double>(depth) * TileCycles(problem, tile) /
                          static_cast<double>(parts);
  // Each position is a sum of four or so, once along the columns and once along the rows.
  constexpr double kTransform = 4;
  const double data = kTransform * positions * tiles *
                      static_cast<double>(plan.Slices(conv, depth) * CeilDiv(conv.in, conv.lanes));
  const double results = kTransform * static_cast<double>(plan.products * plan.tile) * tiles *
                         static_cast<double>(depth * conv.out_vectors) / static_cast<double>(parts);
  const double filter_bytes = positions * static_cast<double>(conv.taps_d * conv.in * conv.out * 4);
  const double weights =
      filter_bytes / static_cast<double>(parts) / BytesPerCycle(target, filter_bytes);
  return std::max(multiply, weights) + 0.25 * std::min(multiply, weights) + data + results;
}

// The best with blocks of `depth` slices, if it is better than `best`.
void ImproveWinograd(const Conv& conv, const Target& target, const std::string& strategy,
                     int64_t depth, std::optional<WinogradChoice>* best) {
  const WinogradPlan plan = PlanOf(conv, strategy);
  const BlockLimits limits = LimitsOf(conv, target, plan, depth);
  for (int64_t block_w : BlockColumns(plan, limits)) {
    for (int64_t block_h : BlockRows(plan, limits, block_w)) {
      const RegisterTileProblem problem = ProductProblem(conv, block_h, block_w);
      const RegisterTile tile = BestTile(problem);
      const int64_t blocks = conv.batch * CeilDiv(conv.depth, depth) * CeilDiv(plan.rows, block_h) *
                             CeilDiv(plan.columns, block_w);
      for (int64_t parts : PartOptions(conv, target, tile.vectors)) {
        const int64_t rounds = CeilDiv(blocks * parts, target.threads);
        const double cycles = static_cast<double>(rounds) *
                              BlockCycles(conv, target, plan, depth, problem, tile, parts);
        if (*best && (*best)->cycles <= cycles) continue;
        *best = WinogradChoice{{}, cycles};
        Config& config = (*best)->config;
        config.Set("strategy", strategy);
        if (conv.spatial == 3) config.Set("block_d", depth);
        config.Set("block_w", block_w);
        config.Set("block_h", block_h);
        SetTile(tile, &config);
        config.Set("unroll", UnrollsOf(conv, tile).back() >= 2 ? int64_t{2} : 1);
        config.Set("pad", PadOptions(conv)[0]);
        config.Set("parts", parts);
        config.Set("prefetch", int64_t{1});
      }
    }
  }
}

}  // namespace

WinogradPlan PlanOf(const Conv& conv, const std::string& strategy) {
  const int64_t tile = strategy.back() - '0';
  WinogradPlan plan{tile, tile + kTaps - 1, CeilDiv(conv.height, tile), CeilDiv(conv.width, tile)};
  if (conv.spatial == 3) {
    plan.depth_step = conv.window.strides[0];
    plan.tap_step = conv.window.dilation[0];
  }
  return plan;
}

bool IsWinograd(const std::string& strategy) { return strategy.starts_with(kPrefix); }

std::vector<std::string> WinogradStrategies(const Conv& conv) {
  const bool fits = conv.spatial >= 2 && IsPlainInPlane(conv) && !conv.transposed &&
                    conv.groups == 1 && !conv.is_strict && !conv.bytes && conv.weight_is_constant &&
                    conv.in >= conv.lanes && conv.out >= conv.lanes && conv.blocked_data;
  std::vector<std::string> strategies;
  for (int64_t tile : {2, 4}) {
    if (fits && conv.height >= tile && conv.width >= tile) {
      strategies.push_back(kPrefix + std::to_string(tile));
    }
  }
  return strategies;
}

std::optional<Knob> NextWinogradKnob(const Conv& conv, const Target& target, const Config& prefix) {
  const WinogradPlan plan = PlanOf(conv, prefix.String("strategy"));
  if (conv.spatial == 3 && !prefix.Has("block_d")) {
    return IntKnob("block_d", BlockDepths(conv, target, plan));
  }
  const int64_t depth = conv.spatial == 3 ? prefix.Int("block_d") : 1;
  const BlockLimits limits = LimitsOf(conv, target, plan, depth);
  if (!prefix.Has("block_w")) return IntKnob("block_w", BlockColumns(plan, limits));
  const int64_t block_w = prefix.Int("block_w");
  if (!prefix.Has("block_h")) return IntKnob("block_h", BlockRows(plan, limits, block_w));
  if (auto knob = NextTileKnob(ProductProblem(conv, prefix.Int("block_h"), block_w), prefix)) {
    return knob;
  }
  if (!prefix.Has("unroll")) return IntKnob("unroll", UnrollsOf(conv, TileOf(prefix)));
  if (!prefix.Has("pad")) return TextKnob("pad", PadOptions(conv));
  if (!prefix.Has("parts")) {
    return IntKnob("parts", PartOptions(conv, target, prefix.Int("tile_v")));
  }
  if (!prefix.Has("prefetch")) {
    return IntKnob("prefetch", {0, 1});
  }
  return std::nullopt;
}

std::optional<WinogradChoice> BestWinograd(const Conv& conv, const Target& target) {
  std::optional<WinogradChoice> best;
  for (const std::string& strategy : WinogradStrategies(conv)) {
    for (int64_t depth : BlockDepths(conv, target, PlanOf(conv, strategy))) {
      ImproveWinograd(conv, target, strategy, depth, &best);
    }
  }
  return best;
}

}  // namespace hone::schedule
