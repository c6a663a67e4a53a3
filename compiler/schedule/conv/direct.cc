#include "compiler/schedule/conv/direct.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/conv/direct_schedule.h"
#include "compiler/schedule/conv/output.h"
#include "compiler/schedule/price/reading.h"
#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/primitives/prefetch.h"

namespace hone::schedule {
namespace {

bool HasChunks(const Conv& conv) {
  return conv.kind == ProductKind::kFloat && conv.groups == 1 && conv.spatial >= 2 &&
         conv.in % conv.lanes == 0 && conv.blocked_data;
}

RegisterTileProblem TileProblem(const Conv& conv) {
  RegisterTileProblem problem;
  problem.vectors = conv.out_vectors;
  problem.rows = conv.height;
  problem.columns = conv.width;
  problem.steps = conv.StepsOfChannels() * conv.Taps() / conv.taps_d * conv.MeanDepthTaps();
  problem.registers = conv.machine.vector.registers;
  problem.vector_bytes = conv.lanes * 4;
  problem.l2_bytes = conv.machine.memory.l2.size_bytes;
  problem.l2_bytes_a_cycle = conv.machine.memory.l2.read_bytes_a_cycle;
  problem.stream_bytes_a_cycle = conv.Reads().StreamRate();
  problem.issue = conv.machine.issue;
  problem.step_multiply_adds = StepMultiplyAdds(conv.machine.issue, conv.kind, conv.dot);
  if (HasChunks(conv) && !conv.PadsSlices()) problem.chunk_steps = conv.lanes * conv.Taps();
  problem.times = conv.times;
  problem.l1_bytes = conv.machine.memory.l1.size_bytes;
  problem.threads = conv.machine.Threads();
  problem.grid = conv.AllPhases() * conv.batch * conv.depth;
  if (conv.groups > 1 && !conv.LanesDiffer()) {
    problem.vector_group = conv.GroupOut() / conv.lanes;
  }
  if (conv.LanesDiffer()) {
    // For a tap the weights of all channels of a group stay in registers, and permutations of the
    // data of two positions or so.
    problem.vector_group = 1;
    problem.registers = std::max(conv.machine.vector.registers / 4 + 3,
                                 conv.machine.vector.registers - 3 * conv.in);
    problem.steps = conv.Taps();
    problem.times = nullptr;
  }
  return problem;
}

int64_t InnerExtent(const Conv& conv) {
  switch (InnerOf(conv)) {
    case InnerLoop::kBlock:  // a last block may be shorter
      return std::gcd(conv.lanes / conv.dot, CeilDiv(conv.in % conv.lanes, conv.dot));
    case InnerLoop::kTaps:
      return conv.taps_w;
    case InnerLoop::kChannels:
      return conv.StepsOfChannels();
  }
  return 1;
}

// Where lanes differ, all channels of a group are unrolled: they are one vector, permuted.
std::vector<int64_t> UnrollsOf(const Conv& conv, const RegisterTile& tile) {
  if (conv.LanesDiffer()) return {1};
  return UnrollOptions({2, 3, 4, 5, 7, 8}, InnerExtent(conv), tile);
}

bool IsThick(const Border& border) { return border.first > 1 || border.last > 1; }

// Whether tiles at the border can leave out what falls outside, as code of their own: each of those
// along a row is, and so its length is bounded, and where tiles have several rows there is one at
// each end.
bool HasBorderTiles(const Conv& conv, const RegisterTile& tile, int64_t unroll) {
  const bool gathers = !conv.operand_blocked && (conv.channels >= conv.lanes || conv.LanesDiffer());
  if (!conv.pads || gathers || conv.Taps() == 1) return false;
  const Border columns = ColumnBorder(conv, tile);
  const int64_t steps = conv.LanesDiffer() ? conv.in : unroll;
  const int64_t taps = (tile.rows > 1 ? conv.taps_h : 1) * conv.taps_w;
  const int64_t emitted = steps * taps * tile.vectors * tile.rows * tile.columns;
  if (tile.rows == 1) {
    constexpr int64_t kBothEnds = 2;
    const int64_t tiles = std::max(columns.first + columns.last, kBothEnds);
    return tiles * emitted <= 2 * kBothEnds * kMaxEmittedFmas;
  }
  return !IsThick(RowBorder(conv, tile)) && !IsThick(columns) && emitted <= kMaxEmittedFmas;
}

// "copy": the data is copied with zeros around it. "slices": around each slice of the depth; the
// taps of slices in front of the data and behind it are left out. "border": the tiles at the border
// leave out what falls outside; the taps of a row are unrolled there, so that they know, and where
// tiles have several rows all taps.
std::vector<std::string> PadOptions(const Conv& conv, const Config& prefix) {
  if (!conv.copies_data) return {"none"};
  std::vector<std::string> options = {"copy"};
  if (conv.PadsSlices()) options.emplace_back("slices");
  if (HasBorderTiles(conv, TileOf(prefix), prefix.Int("unroll"))) options.emplace_back("border");
  return options;
}

// Rows of tiles that are computed together where the sum is taken in chunks: their sums lie in
// memory, near enough to be added to for every chunk. Where rows of tiles at the border have code
// of their own, there is one block.
std::vector<int64_t> BlockOptions(const Conv& conv, const Config& prefix) {
  const RegisterTile tile = TileOf(prefix);
  const bool one = prefix.String("pad") == "border" && tile.rows > 1;
  const int64_t rows = CeilDiv(conv.height, tile.rows);
  const int64_t row_bytes = tile.vectors * conv.lanes * tile.rows * conv.width * 4;
  std::vector<int64_t> options;
  for (const int64_t blocks : {int64_t{1}, int64_t{2}, int64_t{4}, kMostRowBlocks}) {
    const int64_t size = CeilDiv(rows, blocks);
    const bool is_new = options.empty() || options.back() != size;
    const bool several = size > 1 || conv.width > tile.columns;
    if (one && blocks > 1) break;
    if (is_new && several && size * row_bytes <= 2 * conv.machine.memory.l1.size_bytes)
      options.push_back(size);
  }
  return options;
}

// The bytes of weights that a tile takes for a block of input channels.
int64_t WeightBytesOfBlock(const Conv& conv, const RegisterTile& tile) {
  return tile.vectors * conv.lanes * conv.lanes * conv.Taps() * 4;
}

// Channel blocks after whose terms the next tile's turn comes: their weights stay in the first
// cache for all tiles of a block, where those of the whole sum would come from the second again for
// each. 0: a tile's sum is taken at once.
std::vector<int64_t> ChunkOptions(const Conv& conv, const Config& prefix) {
  std::vector<int64_t> options = {0};
  const RegisterTile tile = TileOf(prefix);
  const std::string& pad = prefix.String("pad");
  if (!HasChunks(conv) || pad == "slices" || BlockOptions(conv, prefix).empty()) return options;
  const int64_t blocks = conv.in / conv.lanes;
  const int64_t block_bytes = WeightBytesOfBlock(conv, tile);
  for (int64_t chunk = 1;
       chunk < blocks && 4 * chunk * block_bytes <= 3 * conv.machine.memory.l1.size_bytes;
       ++chunk) {
    if (blocks % chunk == 0 && 8 * chunk * block_bytes >= conv.machine.memory.l1.size_bytes)
      options.push_back(chunk);
  }
  return options;
}

// Whether every column of a tile reads a line of its own at each block of channels, or at most
// shares it with a neighbour.
bool ReadsColumnsApart(const Conv& conv, const Config& prefix) {
  return conv.kind == ProductKind::kFloat && conv.groups == 1 && conv.Taps() == 1 &&
         conv.blocked_data && 2 * conv.lanes >= kLineElements && prefix.String("pad") == "none";
}

// Whether the data of a row is read by no other row, and once more for each tile of channels.
bool ReadsRowsApart(const Conv& conv, const Config& prefix) {
  return ReadsColumnsApart(conv, prefix) && conv.spatial >= 2 && conv.height > 1 &&
         prefix.String("order") == "oh_oc";
}

// Whether there is the knob "columns", which prefetches the next channels of a tile's data (1):
// where that is not in the first cache anyway. Measured: 0.90 to 1.00 of the time.
bool MayPrefetchColumns(const Conv& conv, const Config& prefix) {
  return ReadsColumnsApart(conv, prefix) && conv.in > conv.lanes &&
         conv.data_bytes > conv.machine.memory.l1.size_bytes;
}

// There must be a next chunk to prefetch; or next channels, and a loop of steps to do it in.
std::vector<int64_t> PrefetchOptionsOf(const Conv& conv, const Config& prefix) {
  if (prefix.Int("chunk") > 0) return {0, kPrefetchWeights};
  if (conv.out_vectors <= prefix.Int("tile_v") || conv.LanesDiffer()) return {0};
  if (InnerExtent(conv) / prefix.Int("unroll") <= 1) return {0};
  if (!ReadsRowsApart(conv, prefix)) return {0, kPrefetchWeights};
  const bool stores_lines = conv.result_is_float && conv.result_block >= kLineElements;
  if (!stores_lines) return {0, kPrefetchWeights, kPrefetchData};
  return {0, kPrefetchWeights, kPrefetchData, kPrefetchResult};
}

int64_t WeightBytes(const Conv& conv) {
  return conv.AllPhases() * conv.out * conv.in * conv.Taps() * 4 / conv.dot;
}

// Weights that do not stay in the second cache come from further away at every run.
bool WeightsAreFar(const Conv& conv) {
  return WeightBytes(conv) > conv.machine.memory.l2.size_bytes;
}

// Taps of a row that are unrolled read each element again for the next position, and LLVM keeps
// them in registers for that: tiles at the border spilled with 28 sums of 32 registers, and took
// twice as long, with 24 not. Of several rows all taps are unrolled there, so there is one if it is
// long enough to hide the latency of the sums.
RegisterTile BestDirectTile(const Conv& conv, RegisterTileProblem problem) {
  constexpr int64_t kFew = 16, kKept = 4, kEnough = 8;
  if (InnerOf(conv) == InnerLoop::kTaps && conv.pads && problem.registers > kFew) {
    problem.registers -= kKept;
    if (problem.columns >= kEnough) problem.rows = 1;
  }
  return BestTile(problem);
}

// The part of the products whose data lies inside.
double ProductsInside(const Conv& conv) {
  double part = InsidePart(conv.window, conv.spatial - 1, conv.data_width, conv.width);
  if (conv.spatial > 1) {
    part *= InsidePart(conv.window, conv.spatial - 2, conv.data_height, conv.height);
  }
  return part;
}

// Padding that is thicker than tiles, as dilated windows have it, is left out by tiles of one row:
// they are the best where most windows leave the data.
RegisterTile BestTileByPadding(const Conv& conv, const RegisterTileProblem& problem) {
  const RegisterTile tile = BestDirectTile(conv, problem);
  if (!conv.pads || HasBorderTiles(conv, tile, 1)) return tile;
  RegisterTileProblem row_problem = problem;
  row_problem.grid *= problem.rows;
  row_problem.rows = 1;
  const RegisterTile row = BestDirectTile(conv, row_problem);
  if (!HasBorderTiles(conv, row, 1)) return tile;
  const double cycles = ProductsInside(conv) * TileCycles(problem, row);
  return cycles < TileCycles(problem, tile) ? row : tile;
}

// Where few positions are enough work to hide latencies and one tile takes them all, weights from
// far away are read once. Those of a phase lie in pieces among the others': they came in time only
// where they were prefetched by chunks.
RegisterTile DefaultTile(const Conv& conv) {
  const RegisterTileProblem problem = TileProblem(conv);
  constexpr int64_t kEnough = 8;
  RegisterTile all{1, conv.height, conv.width};
  const auto fits = [&](const RegisterTile& tile) {
    return FitsRegisters(tile, problem.registers - 1);
  };
  const bool once = WeightsAreFar(conv) && conv.batch * conv.depth == 1 && conv.groups == 1 &&
                    conv.AllPhases() == 1 && conv.height < kEnough &&
                    conv.height * conv.width >= kEnough && fits(all);
  if (!once) return BestTileByPadding(conv, problem);
  while (all.vectors < problem.vectors && fits({all.vectors + 1, all.rows, all.columns})) {
    ++all.vectors;
  }
  return all;
}

// Down the rows with the weights of a tile, and the data again for each tile of output channels; or
// along the channels with the data of a row, and all weights again for each row. Of one core: cores
// share the channels or the rows.
std::string DefaultOrder(const Conv& conv, const RegisterTile& tile, int64_t threads) {
  const int64_t panels = CeilDiv(conv.out_vectors, tile.vectors);
  const int64_t own_panels = CeilDiv(panels, threads);
  const int64_t own_groups = std::max<int64_t>(own_panels * conv.groups / panels, 1);
  const int64_t group_bytes = conv.data_bytes / conv.groups;
  const int64_t rows = CeilDiv(conv.height, tile.rows) * conv.depth;
  const int64_t weight_bytes = WeightBytes(conv);
  const int64_t panel_bytes = weight_bytes / panels;
  const int64_t phases = conv.AllPhases();  // one after the other, each with its weights
  const CoreReads reads = conv.Reads();
  const double down =
      reads.CyclesAgain((own_panels - own_groups) * group_bytes, group_bytes) +
      reads.CyclesAgain((rows - 1) * own_panels * panel_bytes, panel_bytes / phases);
  const double along =
      reads.CyclesAgain((CeilDiv(rows, threads) - 1) * weight_bytes, weight_bytes / phases);
  return along < down && GridOrders(conv).size() > 1 ? "oh_oc" : "oc_oh";
}

// The largest whose weights leave half of the first cache to data and sums.
int64_t LargestChunk(const Conv& conv, const Config& prefix) {
  const int64_t block_bytes = WeightBytesOfBlock(conv, TileOf(prefix));
  int64_t largest = 0;
  for (const int64_t chunk : ChunkOptions(conv, prefix)) {
    if (2 * chunk * block_bytes <= conv.machine.memory.l1.size_bytes) largest = chunk;
  }
  return largest;
}

// Whether weights that are prefetched a chunk ahead save more than sums in memory cost. In a model
// other kernels' weights and data are read between two runs: these come from behind the second
// cache even where they would fit it.
bool ChunksPay(const Conv& conv, const RegisterTile& tile, int64_t chunk) {
  if (!conv.stream_bytes) return false;
  constexpr double kPasses = 3;  // the sums of a tile stored, loaded, and loaded for the epilogue
  const int64_t tiles = conv.AllPhases() * conv.batch * conv.depth *
                        CeilDiv(conv.out_vectors, tile.vectors) * CeilDiv(conv.height, tile.rows) *
                        CeilDiv(conv.width, tile.columns);
  const int64_t chunks = conv.in / conv.lanes / chunk;
  const double sums = kPasses * TileOverhead(tile) * static_cast<double>(tiles * (chunks - 1));
  return static_cast<double>(WeightBytes(conv)) / *conv.stream_bytes > sums;
}

int64_t DefaultChunk(const Conv& conv, const Config& prefix) {
  const int64_t chunk = LargestChunk(conv, prefix);
  const bool pays = chunk > 0 && (WeightsAreFar(conv) || ChunksPay(conv, TileOf(prefix), chunk));
  return pays ? chunk : 0;
}

// The last option: no FMA and no copy for zeros. But border tiles of several rows have one block of
// rows: where that is too large for a chunk that would pay, a copy has it, with smaller blocks.
std::string DefaultPad(const Conv& conv, const Config& prefix) {
  const std::string last = PadOptions(conv, prefix).back();
  const auto has_chunk = [&](const std::string& pad) {
    Config padded = prefix;
    padded.Set("pad", pad);
    return DefaultChunk(conv, padded) > 0;
  };
  const bool loses_chunk = last == "border" && !conv.PadsSlices() && !has_chunk(last);
  return loses_chunk && has_chunk("copy") ? "copy" : last;
}

// Some steps of a block at once share their addresses and the loop's own instructions; not so many
// that the tiles at the border become too long to be apart or no loop remains, and not of the
// narrowest blocks: sums would leave their registers.
void SetUnrollAndPad(const Conv& conv, Config* config) {
  constexpr int64_t kMost = 4;
  config->Set("unroll", int64_t{1});
  const std::string pad = DefaultPad(conv, *config);
  const bool is_wide = InnerOf(conv) == InnerLoop::kBlock && conv.lanes > kMost;
  if (conv.kind == ProductKind::kFloat && is_wide) {
    for (const int64_t unroll : UnrollsOf(conv, TileOf(*config))) {
      Config unrolled = *config;
      unrolled.Set("unroll", unroll);
      const std::vector<std::string> pads = PadOptions(conv, unrolled);
      const bool keeps_pad = std::find(pads.begin(), pads.end(), pad) != pads.end();
      const bool keeps_loop = InnerExtent(conv) > unroll;
      if (unroll <= kMost && keeps_loop && keeps_pad) *config = unrolled;
    }
  }
  config->Set("pad", pad);
}

std::optional<Knob> NextDirectKnob(const Conv& conv, const Config& prefix) {
  if (auto knob = NextTileKnob(TileProblem(conv), prefix)) return knob;
  if (!prefix.Has("unroll")) {
    return IntKnob("unroll", UnrollsOf(conv, TileOf(prefix)), 1);
  }
  if (!prefix.Has("pad")) return TextKnob("pad", PadOptions(conv, prefix), "copy");
  if (!prefix.Has("order")) return TextKnob("order", GridOrders(conv), "oc_oh");
  if (!prefix.Has("chunk")) return IntKnob("chunk", ChunkOptions(conv, prefix), 0);
  if (prefix.Int("chunk") > 0 && !prefix.Has("block_h")) {
    return IntKnob("block_h", BlockOptions(conv, prefix));
  }
  if (!prefix.Has("prefetch")) {
    return IntKnob("prefetch", PrefetchOptionsOf(conv, prefix), 0);
  }
  if (!prefix.Has("columns") && MayPrefetchColumns(conv, prefix)) {
    return IntKnob("columns", {0, 1}, 0);
  }
  return std::nullopt;
}

// What comes from behind the second cache at every run.
int64_t DefaultPrefetch(const Conv& conv, const Config& prefix) {
  const std::vector<int64_t> options = PrefetchOptionsOf(conv, prefix);
  const auto is_option = [&](int64_t option) {
    return std::find(options.begin(), options.end(), option) != options.end();
  };
  const bool weights_are_cold = prefix.Int("chunk") > 0 || WeightsAreFar(conv);
  if (weights_are_cold && is_option(kPrefetchWeights)) return kPrefetchWeights;
  const bool has_next_row = conv.height >= 2 * conv.machine.Threads();  // of the same thread
  if (!has_next_row || !is_option(kPrefetchData)) return 0;
  const bool joins_cold =
      !conv.joined.empty() && 2 * conv.result_bytes > conv.machine.memory.l2.size_bytes;
  if (joins_cold && is_option(kPrefetchResult)) return kPrefetchResult;
  return 2 * conv.data_bytes > conv.machine.memory.l2.size_bytes ? kPrefetchData : 0;
}

Config DirectDefault(const Conv& conv) {
  Config config;
  const RegisterTile tile = DefaultTile(conv);
  SetTile(tile, &config);
  SetUnrollAndPad(conv, &config);
  const int64_t chunk = DefaultChunk(conv, config);
  config.Set("order", chunk > 0 ? "oc_oh" : DefaultOrder(conv, tile, conv.machine.Threads()));
  config.Set("chunk", chunk);
  if (chunk > 0) config.Set("block_h", BlockOptions(conv, config).front());
  config.Set("prefetch", DefaultPrefetch(conv, config));
  if (MayPrefetchColumns(conv, config)) config.Set("columns", int64_t{1});
  return config;
}

// The cycles of the default, by the same model as BestWinogradConfigs'.
double DirectCycles(const Conv& conv, const Config& direct) {
  const RegisterTileProblem problem = TileProblem(conv);
  const RegisterTile tile = TileOf(direct);
  const bool leaves_out = direct.String("pad") == "border" && IsThick(ColumnBorder(conv, tile));
  double cycles = leaves_out ? ProductsInside(conv) * TileCycles(problem, tile)
                             : TileCycles(problem, BestTile(problem));
  cycles *= static_cast<double>(problem.grid);
  if (conv.stream_bytes && WeightsAreFar(conv)) {
    const double reading = static_cast<double>(WeightBytes(conv)) / *conv.stream_bytes;
    cycles =
        direct.Int("chunk") > 0 ? WhilePrefetching(cycles, reading) : WhileReading(cycles, reading);
  }
  return cycles / static_cast<double>(conv.machine.Threads());
}

class ConvDirectPlan final : public Plan {
 public:
  explicit ConvDirectPlan(std::shared_ptr<const Problem<Conv>> problem)
      : problem_(std::move(problem)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    return NextDirectKnob(conv(), prefix);
  }
  std::vector<PricedConfig> Ranked() const override {
    Config config = DirectDefault(conv());
    const double cycles = DirectCycles(conv(), config);
    return {{std::move(config), cycles}};
  }
  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return ScheduleConvDirect(problem_->task, conv(), config);
  }

 private:
  const Conv& conv() const { return problem_->kernel; }

  const std::shared_ptr<const Problem<Conv>> problem_;
};

}  // namespace

std::unique_ptr<const Plan> OpenConvDirect(const std::shared_ptr<const Problem<Conv>>& problem) {
  if (!VectorsFitGroups(problem->kernel)) return nullptr;
  return std::make_unique<ConvDirectPlan>(problem);
}

}  // namespace hone::schedule
