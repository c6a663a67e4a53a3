#include "compiler/schedule/conv/winograd_space.h"

#include <algorithm>
#include <numeric>

#include "compiler/schedule/conv/winograd_price.h"
#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/primitives/prefetch.h"

namespace hone::schedule {
namespace {

// Values of the knob "filters".
constexpr char kFiltersInCache[] = "cache";

// In the last cache, of a kernel by itself. Half of it is for what is used in between, or for
// others who share it.
bool FitsLastCache(const Conv& conv, int64_t bytes) {
  return 2 * bytes <= conv.machine.memory.l3.size_bytes;
}

// The transformed data of a block should leave room for the weights in the second cache, and a
// block be large enough that the weights are not read too often.
struct BlockLimits {
  int64_t most_tiles = 0;
  int64_t least_tiles = 12;
};

// The limits of a slice of blocks of `depth` slices of the result.
BlockLimits LimitsOf(const Conv& conv, const WinogradPlan& plan, int64_t depth) {
  const int64_t data_bytes = plan.Positions() * plan.channels * 4 * plan.Slices(conv, depth);
  BlockLimits limits;
  limits.most_tiles = conv.machine.memory.l2.size_bytes * 3 / 2 / data_bytes;
  // Better to read the data from the last cache for each group than the weights from memory.
  if (!FitsLastCache(conv, FilterBytes(conv, plan))) {
    limits.most_tiles = conv.machine.memory.l2.size_bytes * 4 / data_bytes;
  }
  // With few channels the products of a group of output channels are the larger part.
  constexpr int64_t kGroupVectors = 4;
  const int64_t group = std::min(kGroupVectors, conv.out_vectors) * conv.lanes;
  if (plan.channels < group) {
    const int64_t product_bytes = plan.Positions() * group * 4 * depth;
    limits.most_tiles = conv.machine.memory.l2.size_bytes / (data_bytes + product_bytes);
    limits.least_tiles = 6;  // the first cache may hold them
  }
  limits.most_tiles = std::max<int64_t>(1, limits.most_tiles);
  limits.least_tiles = CeilDiv(limits.least_tiles, depth);
  return limits;
}

// Slices of the result in a block: neighbours share those of the data. Of one at least, and of as
// many as leave room for a few tiles of each.
std::vector<int64_t> BlockDepths(const Conv& conv, const WinogradPlan& plan) {
  constexpr int64_t kFewTiles = 4;
  return EvenSizes(conv.depth, conv.depth, [&](int64_t depth) {
    return depth == 1 || LimitsOf(conv, plan, depth).most_tiles >= kFewTiles;
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

RegisterTileProblem ProductProblem(const Conv& conv, const WinogradPlan& plan, int64_t rows,
                                   int64_t columns) {
  RegisterTileProblem problem;
  problem.vectors = conv.out_vectors;
  problem.rows = rows;
  problem.columns = columns;
  problem.steps = plan.channels * conv.MeanDepthTaps();
  problem.registers = conv.machine.vector.registers;
  problem.times = conv.times;
  problem.l1_bytes = conv.machine.memory.l1.size_bytes;
  problem.issue = conv.machine.issue;
  return problem;
}

// Groups of output channels may be a part of the grid, where there are too few blocks for the
// threads; the data are transformed for each part then.
std::vector<int64_t> PartOptions(const Conv& conv, int64_t vectors) {
  std::vector<int64_t> options = {1};
  if (conv.out_vectors % vectors != 0) return options;
  const int64_t groups = conv.out_vectors / vectors;
  for (int64_t parts = 2; parts <= std::min<int64_t>(groups, 2 * conv.machine.Threads()); ++parts) {
    if (groups % parts == 0) options.push_back(parts);
  }
  return options;
}

std::vector<int64_t> UnrollsOf(const Conv& conv, const WinogradPlan& plan,
                               const RegisterTile& tile) {
  const int64_t channels = plan.SkipsZeros() ? conv.in : plan.channels;
  // A last block of channels may be shorter.
  const int64_t block = std::gcd(std::min(conv.lanes, channels), channels);
  return UnrollOptions({2, 3, 4, 6, 8, 12}, block, tile);
}

// Channels whose filters are transformed at a time, when they are needed, and stay in the first or
// the second cache meanwhile; 0: all are, beforehand.
std::vector<int64_t> ChunkOptions(const Conv& conv, const WinogradPlan& plan, int64_t vectors) {
  std::vector<int64_t> options = {0};
  const bool whole_vectors = plan.channels % conv.lanes == 0 && conv.out % conv.lanes == 0;
  if (!plan.InColumns() || !whole_vectors || plan.phases > 1) return options;
  const int64_t channel_bytes = plan.products_w * vectors * conv.lanes * 4;
  for (int64_t vectors_of_chunk : {1, 2, 4}) {
    const int64_t chunk = vectors_of_chunk * conv.lanes;
    if (plan.channels % chunk == 0 &&
        2 * chunk * channel_bytes <= conv.machine.memory.l2.size_bytes) {
      options.push_back(chunk);
    }
  }
  return options;
}

// Where the transformed filters of a chunk may be: in a cache, or, a row of positions of one
// channel at a time, in registers alone, if the sums of such a row and a whole block are in
// registers too.
std::vector<std::string> FilterOptions(const Conv& conv, const WinogradPlan& plan,
                                       const RegisterTile& tile, int64_t block_h, int64_t block_w) {
  constexpr int64_t kOperands = 4;
  const bool is_whole_block = tile.rows >= block_h && tile.columns >= block_w;
  const int64_t sums = plan.products_w * tile.vectors * tile.rows * tile.columns;
  if (conv.spatial == 2 && is_whole_block && sums + kOperands <= conv.machine.vector.registers) {
    return {kFiltersInCache, kFiltersInRegisters};
  }
  return {kFiltersInCache};
}

std::vector<std::string> PadOptions(const Conv& conv) {
  if (!conv.copies_data) return {"none"};
  if (!conv.pads || !conv.operand_blocked) return {"copy"};
  return {"border", "copy"};
}

// The chunk with the most channels of which everything that is read for each row of positions stays
// in the first cache, or else the one with the fewest; 0: there are none.
int64_t LikelyChunk(const Conv& conv, const WinogradPlan& plan, const RegisterTile& tile,
                    bool in_registers) {
  const int64_t channel_bytes = ChunkBytesOfChannel(conv, plan, tile, in_registers);
  int64_t likely = 0;
  for (int64_t chunk : ChunkOptions(conv, plan, tile.vectors)) {
    const bool fits = 4 * chunk * channel_bytes <= 3 * conv.machine.memory.l1.size_bytes;
    if (likely == 0 || fits) likely = chunk;
  }
  return likely;
}

// The fastest of all register tiles, that of those few vectors wide, and a block as one tile,
// where the space has that.
std::vector<RegisterTile> LikelyTiles(RegisterTileProblem problem) {
  std::vector<RegisterTile> tiles = {BestTile(problem)};
  constexpr int64_t kFewVectors = 2;
  problem.vector_group = kFewVectors;
  tiles.push_back(BestTile(problem));
  const RegisterTile block = {1, problem.rows, problem.columns};
  Config one_vector;
  one_vector.Set("tile_v", block.vectors);
  const std::vector<KnobValue> rows = NextTileKnob(problem, one_vector)->options;
  const bool has_rows = std::find(rows.begin(), rows.end(), KnobValue(block.rows)) != rows.end();
  if (has_rows && FitsRegisters(block, problem.registers)) tiles.push_back(block);
  return tiles;
}

// Two steps where that is possible. LLVM loads the next step's vectors ahead; on x86, where
// operands come from memory too, without harm, elsewhere only if the tile leaves registers for
// them.
int64_t DefaultUnroll(const Conv& conv, const WinogradPlan& plan, const RegisterTile& tile) {
  RegisterTile with_next = tile;
  ++with_next.columns;
  if (!conv.machine.vector.takes_memory_operands &&
      !FitsRegisters(with_next, conv.machine.vector.registers))
    return 1;
  const std::vector<int64_t> unrolls = UnrollsOf(conv, plan, tile);
  return unrolls[std::min<size_t>(1, unrolls.size() - 1)];
}

// 0: nothing; 1: the filters needed next, of a position or of a chunk; 2: also the next channels of
// the transformed data, where a block's fills so much of the second cache that some of it comes
// from further away (measured: a tenth less time for 1 MB of 2; two hundredths more for half of
// that) and every column has lines of its own. Sums of a chunk are too short to find out meanwhile
// where the next is.
std::vector<int64_t> PrefetchChoices(const Conv& conv, const WinogradPlan& plan, int64_t depth,
                                     int64_t tiles) {
  const bool is_far = 2 * PanelBytes(conv, plan, depth, tiles) > conv.machine.memory.l2.size_bytes;
  if (is_far && conv.lanes >= kLineElements) return {0, 1, 2};
  return {0, 1};
}

// The best configs of one strategy: with filters transformed beforehand, and when they are needed.
struct BestOfStrategy {
  std::optional<PricedConfig> beforehand, in_chunks;
};

Config ConfigOf(const Conv& conv, const WinogradPlan& plan, const WinogradChoice& choice) {
  Config config;
  if (conv.spatial == 3) config.Set("block_d", choice.depth);
  config.Set("block_w", choice.problem.columns);
  config.Set("block_h", choice.problem.rows);
  SetTile(choice.tile, &config);
  config.Set("unroll", DefaultUnroll(conv, plan, choice.tile));
  config.Set("pad", PadOptions(conv)[0]);
  config.Set("parts", choice.parts);
  const int64_t tiles = choice.problem.rows * choice.problem.columns;
  const std::vector<int64_t> prefetches = PrefetchChoices(conv, plan, choice.depth, tiles);
  config.Set("prefetch", choice.chunk > 0 ? 1 : prefetches.back());
  config.Set("chunk", choice.chunk);
  if (choice.chunk > 0) {
    config.Set("filters", choice.in_registers ? kFiltersInRegisters : kFiltersInCache);
  }
  return config;
}

// The choice with filters transformed beforehand, and those with filters transformed when needed.
std::vector<WinogradChoice> WithFilters(const Conv& conv, const WinogradPlan& plan,
                                        WinogradChoice choice) {
  std::vector<WinogradChoice> choices = {choice};
  for (const std::string& where :
       FilterOptions(conv, plan, choice.tile, choice.problem.rows, choice.problem.columns)) {
    choice.in_registers = where == kFiltersInRegisters;
    choice.chunk = LikelyChunk(conv, plan, choice.tile, choice.in_registers);
    if (choice.chunk > 0) choices.push_back(choice);
  }
  return choices;
}

// The best with blocks of `depth` slices, where they are better than those found.
void ImproveWinograd(const Conv& conv, const WinogradPlan& plan, int64_t depth,
                     BestOfStrategy* found) {
  const BlockLimits limits = LimitsOf(conv, plan, depth);
  const auto improve = [&](const WinogradChoice& choice) {
    const int64_t blocks = conv.batch * CeilDiv(conv.depth, depth) *
                           CeilDiv(plan.rows, choice.problem.rows) *
                           CeilDiv(plan.columns, choice.problem.columns);
    const int64_t rounds = CeilDiv(blocks * choice.parts, conv.machine.Threads());
    const double cycles = static_cast<double>(rounds) * BlockCycles(conv, plan, choice);
    std::optional<PricedConfig>& best = choice.chunk > 0 ? found->in_chunks : found->beforehand;
    if (best && best->cycles <= cycles) return;
    best = PricedConfig{ConfigOf(conv, plan, choice), cycles};
  };
  for (int64_t block_w : BlockColumns(plan, limits)) {
    for (int64_t block_h : BlockRows(plan, limits, block_w)) {
      const RegisterTileProblem problem = ProductProblem(conv, plan, block_h, block_w);
      for (const RegisterTile& tile : LikelyTiles(problem)) {
        for (int64_t parts : PartOptions(conv, tile.vectors)) {
          const WinogradChoice choice = {depth, problem, tile, parts};
          for (const WinogradChoice& with : WithFilters(conv, plan, choice)) improve(with);
        }
      }
    }
  }
}

}  // namespace

std::optional<Knob> NextWinogradKnob(const Conv& conv, int64_t tile, const Config& prefix) {
  const WinogradPlan plan = PlanOf(conv, tile);
  if (conv.spatial == 3 && !prefix.Has("block_d")) {
    return IntKnob("block_d", BlockDepths(conv, plan));
  }
  const int64_t depth = conv.spatial == 3 ? prefix.Int("block_d") : 1;
  const BlockLimits limits = LimitsOf(conv, plan, depth);
  if (!prefix.Has("block_w")) return IntKnob("block_w", BlockColumns(plan, limits));
  const int64_t block_w = prefix.Int("block_w");
  if (!prefix.Has("block_h")) return IntKnob("block_h", BlockRows(plan, limits, block_w));
  if (auto knob =
          NextTileKnob(ProductProblem(conv, plan, prefix.Int("block_h"), block_w), prefix)) {
    return knob;
  }
  if (!prefix.Has("unroll")) return IntKnob("unroll", UnrollsOf(conv, plan, TileOf(prefix)));
  if (!prefix.Has("pad")) return TextKnob("pad", PadOptions(conv));
  if (!prefix.Has("parts")) {
    return IntKnob("parts", PartOptions(conv, prefix.Int("tile_v")));
  }
  if (!prefix.Has("prefetch")) {
    return IntKnob("prefetch", PrefetchChoices(conv, plan, depth, prefix.Int("block_h") * block_w));
  }
  if (!prefix.Has("chunk")) {
    if (prefix.Int("prefetch") > 1) return IntKnob("chunk", {0}, 0);
    return IntKnob("chunk", ChunkOptions(conv, plan, prefix.Int("tile_v")), 0);
  }
  if (prefix.Int("chunk") > 0 && !prefix.Has("filters")) {
    return TextKnob("filters",
                    FilterOptions(conv, plan, TileOf(prefix), prefix.Int("block_h"), block_w),
                    kFiltersInCache);
  }
  return std::nullopt;
}

std::vector<PricedConfig> BestWinogradConfigs(const Conv& dilated, int64_t tile) {
  const Conv conv = WithoutDilation(dilated);
  const WinogradPlan plan = PlanOf(conv, tile);
  BestOfStrategy best;
  for (const int64_t depth : BlockDepths(conv, plan)) {
    ImproveWinograd(conv, plan, depth, &best);
  }
  std::vector<PricedConfig> choices;
  if (best.beforehand) choices.push_back(*std::move(best.beforehand));
  if (best.in_chunks) choices.push_back(*std::move(best.in_chunks));
  for (PricedConfig& choice : choices) choice.cycles += PhaseCopyCycles(dilated);
  return choices;
}

}  // namespace hone::schedule
