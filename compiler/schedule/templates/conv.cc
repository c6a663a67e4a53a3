// Direct convolution of one to three spatial axes, 1x1 included: a register tile of output channels
// (whole vectors) by output pixels, accumulated over input channels and taps; weights packed so
// that the innermost loop reads them in order; padding by a copy of the data with zeros around it.
// Of 8-bit integers and of bfloat16, a step of the sum is a dot product of four or two neighbouring
// input channels. Other strategies: winograd.h, conv_tiles.h.
#include <algorithm>
#include <limits>

#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/templates/conv_output.h"
#include "compiler/schedule/templates/conv_tiles.h"
#include "compiler/schedule/templates/conv_view.h"
#include "compiler/schedule/templates/fuse_stages.h"
#include "compiler/schedule/templates/register_tile.h"
#include "compiler/schedule/templates/sequence.h"
#include "compiler/schedule/templates/templates.h"
#include "compiler/schedule/templates/window_border.h"
#include "compiler/schedule/templates/winograd.h"
#include "compiler/schedule/templates/winograd_space.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {
namespace {

using loop::Buffer;

RegisterTileProblem TileProblem(const Conv& conv) {
  RegisterTileProblem problem;
  problem.vectors = conv.out_vectors;
  problem.rows = conv.height;
  problem.columns = conv.width;
  problem.steps = conv.StepsOfChannels() * conv.Taps() / conv.taps_d * conv.MeanDepthTaps();
  problem.registers = conv.registers;
  problem.vector_bytes = conv.lanes * 4;
  problem.l2_bytes = conv.l2_bytes;
  problem.times = conv.times;
  problem.l1_bytes = conv.l1_bytes;
  problem.threads = conv.threads;
  problem.grid = conv.batch * conv.depth;
  for (const int64_t phases : conv.phases) problem.grid *= phases;
  if (conv.groups > 1 && !conv.LanesDiffer()) {
    problem.vector_group = conv.GroupOut() / conv.lanes;
  }
  if (conv.LanesDiffer()) {
    // For a tap the weights of all channels of a group stay in registers, and permutations of the
    // data of two positions or so.
    problem.vector_group = 1;
    problem.registers = std::max(conv.registers / 4 + 3, conv.registers - 3 * conv.in);
    problem.steps = conv.Taps();
    problem.times = nullptr;
  }
  return problem;
}

// The loop that is unrolled: input channels of a block, or where there are none the taps of a row,
// or the channels.
enum class InnerLoop { kBlock, kTaps, kChannels };

InnerLoop InnerOf(const Conv& conv) {
  if (conv.SumsBlocks()) return InnerLoop::kBlock;
  if (conv.blocked_data) return InnerLoop::kChannels;
  return conv.taps_w > 1 ? InnerLoop::kTaps : InnerLoop::kChannels;
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

// Of the tiles of a row.
Border ColumnBorder(const Conv& conv, const RegisterTile& tile) {
  return BorderOf(conv.window, conv.spatial - 1, conv.data_width, conv.width, tile.columns);
}

// "copy": the data is copied with zeros around it. "slices": around each slice of the depth; the
// taps of slices in front of the data and behind it are left out. "border": the tiles at the border
// leave out what falls outside; the taps of a row are unrolled there, so that they know.
std::vector<std::string> PadOptions(const Conv& conv, const Config& prefix) {
  if (!conv.copies_data) return {"none"};
  std::vector<std::string> options = {"copy"};
  if (conv.PadsSlices()) options.emplace_back("slices");
  const RegisterTile tile = TileOf(prefix);
  const Border border = ColumnBorder(conv, tile);
  const int64_t unroll = conv.LanesDiffer() ? conv.in : prefix.Int("unroll");
  const int64_t emitted = unroll * conv.taps_w * tile.vectors * tile.columns;
  if (!conv.pads || (!conv.operand_blocked && conv.channels >= conv.lanes) || tile.rows > 1 ||
      border.first > 1 || border.last > 1 || conv.Taps() == 1 || emitted > 2 * kMaxEmittedFmas) {
    return options;
  }
  options.emplace_back("border");
  return options;
}

// Rows of tiles that are computed together where the sum is taken in chunks: their sums lie in
// memory, near enough to be added to for every chunk.
std::vector<int64_t> BlockOptions(const Conv& conv, const RegisterTile& tile) {
  const int64_t rows = CeilDiv(conv.height, tile.rows);
  const int64_t row_bytes = tile.vectors * conv.lanes * tile.rows * conv.width * 4;
  std::vector<int64_t> options;
  for (const int64_t blocks : {1, 2, 4, 8}) {
    const int64_t size = CeilDiv(rows, blocks);
    const bool is_new = options.empty() || options.back() != size;
    const bool several = size > 1 || conv.width > tile.columns;
    if (is_new && several && size * row_bytes <= 2 * conv.l1_bytes) options.push_back(size);
  }
  return options;
}

// Of a tile, for a block of input channels.
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
  if (conv.kind != ProductKind::kFloat || conv.groups > 1 || conv.spatial < 2 ||
      conv.in % conv.lanes != 0 || !conv.blocked_data || (pad != "none" && pad != "copy") ||
      BlockOptions(conv, tile).empty()) {
    return options;
  }
  const int64_t blocks = conv.in / conv.lanes;
  const int64_t block_bytes = WeightBytesOfBlock(conv, tile);
  for (int64_t chunk = 1; chunk < blocks && 4 * chunk * block_bytes <= 3 * conv.l1_bytes; ++chunk) {
    if (blocks % chunk == 0 && 8 * chunk * block_bytes >= conv.l1_bytes) options.push_back(chunk);
  }
  return options;
}

// There must be next channels to prefetch, and a loop of steps to do it in.
std::vector<int64_t> PrefetchOptionsOf(const Conv& conv, const Config& prefix) {
  if (conv.out_vectors <= prefix.Int("tile_v") || conv.LanesDiffer()) return {0};
  if (prefix.Int("chunk") > 0) return {0};  // the next are read once, one after the other
  if (InnerExtent(conv) / prefix.Int("unroll") <= 1) return {0};
  return {0, 1};
}

class ConvSchedule {
 public:
  ConvSchedule(const Task& task, const Conv& conv, const Config& config)
      : task_(task),
        conv_(conv),
        config_(config),
        tile_(TileOf(config)),
        chunk_(config.Int("chunk")),
        s_(task.def->naive),
        out_(conv.view.output),
        slices_(config.String("pad") == "slices"),
        copies_(slices_ || (conv.copies_data && config.String("pad") == "copy")),
        border_(conv.copies_data && config.String("pad") == "border") {}

  absl::StatusOr<loop::Nest> Run() && {
    anchor_ = FuseAroundAnchor(&s_, conv_.view, copies_ ? conv_.data : "");
    if (slices_) s_.InlinePadding(conv_.data, 2);
    SetLayouts();
    TileOutput();
    TileReduction();
    for (const std::string& loop : Grid()) s_.Parallel(loop);
    if (copies_) ScheduleDataStage(&s_, conv_.data, conv_.lanes);
    if (!packed_data_.empty()) ScheduleDataStage(&s_, packed_data_, conv_.lanes);
    Specialise();
    if (conv_.Dots()) s_.DotAll(anchor_ + ".dot");
    return std::move(s_).Finish();
  }

 private:
  void SetLayouts() {
    SetSignatureLayouts(&s_, task_);
    PackWeight();
    const int64_t channels = ChannelBlock(conv_);
    if (copies_ && channels > 1) s_.SetLayout(conv_.data, BlockedData(channels));
    if (conv_.packs_data) packed_data_ = s_.Pack(conv_.data, BlockedData(channels));
    if (conv_.Dots()) s_.SumPadLanes(anchor_ + ".r0", conv_.dot);
  }

  // As the steps read it.
  void PackWeight() {
    std::string blocks = AxisLetters(conv_.rank());
    if (conv_.transposed) std::swap(blocks[0], blocks[1]);
    if (conv_.groups > 1 && !conv_.SumsBlocks()) {  // the channels are summed within the taps
      blocks.erase(1, 1);
      blocks += 'C';
    }
    const char in = conv_.transposed ? 'n' : 'c', out = conv_.transposed ? 'c' : 'n';
    if (conv_.SumsBlocks()) {
      blocks += fmt::format("{}{}", conv_.lanes / conv_.dot, in);
    }
    blocks += fmt::format("{}{}", tile_.vectors * conv_.lanes, out);
    if (conv_.Dots()) blocks += fmt::format("{}{}", conv_.dot, in);
    const Layout layout = *Layout::Parse(blocks, conv_.rank());
    if (conv_.weight_pad.empty()) {
      packed_ = s_.Pack(conv_.weight, layout);
      return;
    }
    packed_ = conv_.weight_pad;
    s_.SetLayout(packed_, layout);
    if (conv_.weight_is_constant) s_.Prepare(packed_);
  }

  // In chunks: for n, oc, od, ohb (the grid) { for oh, ow (tiles) { .. } }
  void TileOutput() {
    SplitConvOutput(&s_, conv_, tile_);
    std::vector<std::string> outer = Grid();
    if (chunk_ > 0) {
      s_.Split(out_ + ".oh", config_.Int("block_h"), Tail::kClip, out_ + ".ohb", out_ + ".oh");
      outer.push_back(out_ + ".oh");
    }
    OrderConvOutput(&s_, conv_, outer);
  }

  std::vector<std::string> Grid() const {
    return ConvGrid(conv_, config_.String("order"), chunk_ > 0 ? "ohb" : "oh");
  }

  // The anchor's spatial axes, outermost first, each with `suffix`.
  std::vector<std::string> AnchorAxes(const std::string& suffix = "") const {
    std::vector<std::string> axes;
    for (int d = conv_.spatial; d > 0; --d) axes.push_back(conv_.Axis(anchor_, d) + suffix);
    return axes;
  }
  Layout BlockedData(int64_t channels) const { return BlockedChannels(conv_.rank(), channels); }

  void TileReduction() {
    ComputeAtOptions options;
    options.align.assign(static_cast<size_t>(conv_.rank()), 1);
    options.align[1] = conv_.lanes;
    options.layout = BlockedData(conv_.lanes).ToString();
    if (chunk_ > 0) options.scope = loop::Scope::kLocal;
    s_.ComputeAt(anchor_, chunk_ > 0 ? Grid().back() : out_ + ".ow", options);
    const std::string c = anchor_ + ".i1";
    s_.Decompose(c);
    for (const std::string& suffix : {std::string("_init"), std::string()}) {
      s_.Split(c + suffix, conv_.lanes, Tail::kExact, anchor_ + ".ocv" + suffix,
               anchor_ + ".lane" + suffix);
    }
    std::vector<std::string> zeros = AnchorAxes("_init");
    for (const char* name : {".ocv_init", ".lane_init"}) zeros.push_back(anchor_ + name);
    s_.ReorderPresent(zeros);
    if (chunk_ > 0) {
      s_.SplitIfPresent(conv_.Axis(anchor_, 2), tile_.rows, Tail::kClip, anchor_ + ".th",
                        anchor_ + ".row");
      s_.SplitIfPresent(conv_.Axis(anchor_, 1), tile_.columns, Tail::kClip, anchor_ + ".tw",
                        anchor_ + ".col");
    }
    OrderSteps();
    s_.VectorizeAll(anchor_ + ".lane");
    if (chunk_ == 0) return;
    acc_ = s_.SumLocally(s_.LastOf({anchor_ + ".th", anchor_ + ".tw"}));
    s_.VectorizeAll(anchor_ + ".lane_init");
    for (const char* name : {".lane", ".lane_init"}) s_.VectorizeAll(acc_ + name);
  }

  // The steps of the sum: input channel blocks, taps, channels of a block; the tile innermost.
  void OrderSteps() {
    std::vector<std::string> steps;
    const std::string ic = anchor_ + ".r0";
    std::string channels = ic;
    std::string inner = ic;
    for (int d = conv_.spatial; d > 0; --d) steps.push_back(conv_.Tap(anchor_, d));
    if (conv_.SumsBlocks()) {
      s_.Split(ic, conv_.lanes, Tail::kClip, anchor_ + ".icb", anchor_ + ".ic");
      inner = channels = anchor_ + ".ic";
      steps.insert(steps.begin(), anchor_ + ".icb");
      steps.push_back(inner);
    } else if (InnerOf(conv_) == InnerLoop::kTaps) {
      inner = conv_.Tap(anchor_, 1);
      steps.insert(steps.begin(), ic);
    } else {
      steps.push_back(ic);
    }
    const int64_t unroll = config_.Int("unroll");
    if (unroll > 1) {
      const int64_t channels_of_step = inner == channels ? conv_.dot : 1;
      s_.Split(inner, unroll * channels_of_step, Tail::kExact, inner, anchor_ + ".unroll");
      steps.push_back(anchor_ + ".unroll");
      if (inner == channels) channels = anchor_ + ".unroll";
    }
    if (conv_.Dots()) s_.Split(channels, conv_.dot, Tail::kExact, channels, anchor_ + ".dot");
    if (chunk_ > 0) {  // all tiles of a block for a chunk
      s_.Split(anchor_ + ".icb", chunk_, Tail::kExact, anchor_ + ".chunk", anchor_ + ".icb");
      steps.insert(steps.begin(), {anchor_ + ".chunk", anchor_ + ".th", anchor_ + ".tw"});
      for (const char* name : {".row", ".col"}) steps.push_back(anchor_ + name);
    } else {
      for (const std::string& axis : AnchorAxes()) steps.push_back(axis);
    }
    if (conv_.LanesDiffer()) {  // what is loaded of the data serves all channels
      std::erase(steps, ic);
      steps.push_back(ic);
    }
    for (const char* name : {".ocv", ".lane", ".dot"}) steps.push_back(anchor_ + name);
    s_.ReorderPresent(steps, /*allow_reassociation=*/true);
    if (border_ || slices_) {
      std::vector<std::string> taps;
      for (int d = 2; d <= conv_.spatial; ++d) taps.push_back(conv_.Tap(anchor_, d));
      s_.LeaveOutPadding(steps, anchor_ + ".lane", taps);
    }
    if (config_.Int("prefetch") == 0) return;
    // One line of the next channels' weights a step; the tiles of a row take turns.
    PrefetchOptions options;
    options.ahead = out_ + ".oc";
    options.inner = anchor_ + ".ocv";
    options.turn = out_ + ".ow";
    s_.Prefetch(inner, packed_, options);
  }

  // Tails get bodies of their own, of constant sizes; what is left of the tile is unrolled.
  void Specialise() {
    s_.Simplify();
    const int64_t channels = conv_.StepsOfChannels() * conv_.dot;
    if (s_.Has(anchor_ + ".icb") && channels % conv_.lanes != 0) {
      s_.PeelAll(anchor_ + ".icb", 0, 1);
    }
    if (border_) {
      PeelBorder();
    } else if (conv_.width % tile_.columns != 0) {
      s_.PeelAll(out_ + ".ow", 0, 1);
    }
    const bool pads_lanes = conv_.out % conv_.lanes != 0;
    if (chunk_ > 0) {
      PeelBlocks();
    } else if (conv_.height % tile_.rows != 0) {
      s_.PeelAll(out_ + ".oh", 0, 1);
    }
    if (conv_.out_vectors % tile_.vectors != 0 || pads_lanes) s_.PeelAll(out_ + ".oc", 0, 1);
    for (const char* name : {".row", ".col", ".ocv"}) s_.UnrollAll(out_ + name);
    for (const char* name : {".ocv", ".unroll"}) s_.UnrollAll(anchor_ + name);
    if (chunk_ == 0) {
      for (const std::string& axis : AnchorAxes()) s_.UnrollAll(axis);
    } else {
      for (const char* name : {".row", ".col"}) s_.UnrollAll(anchor_ + name);
      for (const char* name : {".row", ".col", ".ocv", ".unroll"}) s_.UnrollAll(acc_ + name);
    }
    if (conv_.LanesDiffer()) s_.UnrollAll(anchor_ + ".r0");
  }

  // The last block of rows, and the last rows and columns of tiles of a block.
  void PeelBlocks() {
    const int64_t block = config_.Int("block_h");
    const int64_t rows = CeilDiv(conv_.height, tile_.rows);
    const bool short_row = conv_.height % tile_.rows != 0;
    if (short_row || rows % block != 0) s_.PeelAll(out_ + ".ohb", 0, 1);
    if (short_row) {
      s_.PeelAll(out_ + ".oh", 0, 1);
      s_.PeelAll(anchor_ + ".th", 0, 1);
    }
    if (conv_.width % tile_.columns != 0) s_.PeelAll(anchor_ + ".tw", 0, 1);
  }

  // The taps of a row are unrolled in the tiles that leave the data, or in the only one.
  void PeelBorder() {
    const Border border = ColumnBorder(conv_, tile_);
    s_.PeelAll(out_ + ".ow", border.first, border.last);
    const bool only_one = conv_.width <= tile_.columns;
    const std::string taps = conv_.Tap(anchor_, 1);
    for (const std::string& copy : LoopCopies(s_.nest(), taps)) {
      if (only_one || copy != taps) s_.UnrollAll(copy);
    }
  }

  const Task& task_;
  const Conv& conv_;
  const Config& config_;
  RegisterTile tile_;
  int64_t chunk_;  // channel blocks after which the next tile's turn comes; 0: a tile is done first
  Sequence s_;
  std::string out_;
  bool slices_;         // those of padding are left out
  bool copies_;         // the padded copy is a launch of its own
  bool border_;         // there is none: tiles at the border are apart
  std::string packed_;  // the weights
  std::string packed_data_;
  std::string anchor_;  // the buffer of the sums; its loops are named after it
  std::string acc_;     // of a chunk's
};

// Weights that do not stay in the second cache come from further away at every run.
bool WeightsAreFar(const Conv& conv, const Target& target) {
  return conv.out * conv.in * conv.Taps() * 4 / conv.dot > target.l2_bytes;
}

// Where few positions are enough work to hide latencies and one tile takes them all, weights from
// far away are read once.
RegisterTile DefaultTile(const Conv& conv, const Target& target) {
  const RegisterTileProblem problem = TileProblem(conv);
  constexpr int64_t kEnough = 8;
  RegisterTile all{1, conv.height, conv.width};
  const auto fits = [&](const RegisterTile& tile) {
    return FitsRegisters(tile, problem.registers - 1);
  };
  const bool once = WeightsAreFar(conv, target) && conv.batch * conv.depth == 1 &&
                    conv.groups == 1 && conv.height < kEnough &&
                    conv.height * conv.width >= kEnough && fits(all);
  if (!once) return BestTile(problem);
  while (all.vectors < problem.vectors && fits({all.vectors + 1, all.rows, all.columns})) {
    ++all.vectors;
  }
  return all;
}

// The largest whose weights leave half of the first cache to data and sums.
int64_t DefaultChunk(const Conv& conv, const Config& prefix) {
  const int64_t block_bytes = WeightBytesOfBlock(conv, TileOf(prefix));
  int64_t largest = 0;
  for (const int64_t chunk : ChunkOptions(conv, prefix)) {
    if (2 * chunk * block_bytes <= conv.l1_bytes) largest = chunk;
  }
  return largest;
}

std::vector<std::string> Strategies(const Conv& conv, const Target& target) {
  std::vector<std::string> strategies = WinogradStrategies(conv);
  strategies.insert(strategies.begin(), "direct");
  if (HasConvTiles(conv, target)) strategies.emplace_back("tiles");
  return strategies;
}

// By the same model as BestWinograd's.
double DirectCycles(const Conv& conv, const Target& target) {
  const RegisterTileProblem problem = TileProblem(conv);
  const double cycles =
      static_cast<double>(conv.batch * conv.depth) * TileCycles(problem, BestTile(problem));
  return cycles / static_cast<double>(target.threads);
}

class ConvTemplateOf : public Template {
 public:
  std::string_view name() const override { return "conv"; }
  bool Matches(const ops::KernelDefinition& def) const override {
    return ViewConv(def).has_value();
  }

  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const Target& target) const override {
    const Conv conv = *ViewConv(def);
    return BlockedSignatures(def, conv.view, target.VectorLanes(), WideBlock(conv, target));
  }

  Space MakeSpace(const Task& task) const override {
    if (!VectorsFitGroups(ConvOf(task))) return GenericTemplate().MakeSpace(task);
    return Space(
        [conv = ConvOf(task), target = task.target](const Config& prefix) -> std::optional<Knob> {
          if (!prefix.Has("strategy")) {
            return TextKnob("strategy", Strategies(conv, target), "direct");
          }
          if (prefix.String("strategy") == "tiles") return NextConvTilesKnob(conv, prefix);
          if (IsWinograd(prefix.String("strategy"))) return NextWinogradKnob(conv, target, prefix);
          if (auto knob = NextTileKnob(TileProblem(conv), prefix)) return knob;
          if (!prefix.Has("unroll")) {
            return IntKnob("unroll", UnrollsOf(conv, TileOf(prefix)), 1);
          }
          if (!prefix.Has("pad")) return TextKnob("pad", PadOptions(conv, prefix), "copy");
          if (!prefix.Has("order")) return TextKnob("order", GridOrders(conv), "oc_oh");
          if (!prefix.Has("chunk")) return IntKnob("chunk", ChunkOptions(conv, prefix), 0);
          if (prefix.Int("chunk") > 0 && !prefix.Has("block_h")) {
            return IntKnob("block_h", BlockOptions(conv, TileOf(prefix)));
          }
          if (!prefix.Has("prefetch")) {
            return IntKnob("prefetch", PrefetchOptionsOf(conv, prefix), 0);
          }
          return std::nullopt;
        });
  }

  Config Default(const Task& task) const override {
    const Conv conv = ConvOf(task);
    if (!VectorsFitGroups(conv)) return GenericTemplate().Default(task);
    const std::optional<StrategyChoice> winograd = BestWinograd(conv, task.target);
    if (winograd && winograd->cycles < DirectCycles(conv, task.target)) return winograd->config;
    if (HasConvTiles(conv, task.target)) {
      StrategyChoice tiles = BestConvTiles(conv);
      if (tiles.cycles < DirectCycles(conv, task.target)) return tiles.config;
    }
    Config config;
    config.Set("strategy", std::string("direct"));
    SetTile(DefaultTile(conv, task.target), &config);
    config.Set("unroll", int64_t{1});
    config.Set("pad", PadOptions(conv, config).back());  // no FMA and no copy for zeros
    // Weights of a tile are read once a row of tiles: keep them by going down the rows first.
    config.Set("order", std::string("oc_oh"));
    const bool far = WeightsAreFar(conv, task.target);
    const int64_t chunk = far ? DefaultChunk(conv, config) : 0;
    config.Set("chunk", chunk);
    if (chunk > 0) config.Set("block_h", BlockOptions(conv, TileOf(config)).front());
    config.Set("prefetch", far ? PrefetchOptionsOf(conv, config).back() : 0);
    return config;
  }

  absl::StatusOr<loop::Nest> Schedule(const Task& task, const Config& config) const override {
    HONE_RETURN_IF_ERROR(CheckSignature(task));
    const Conv conv = ConvOf(task);
    if (!VectorsFitGroups(conv)) return GenericTemplate().Schedule(task, config);
    HONE_RETURN_IF_ERROR(CheckConfig(MakeSpace(task), config));
    if (IsWinograd(config.String("strategy"))) return ScheduleWinograd(task, conv, config);
    if (config.String("strategy") == "tiles") return ScheduleConvTiles(task, conv, config);
    return ConvSchedule(task, conv, config).Run();
  }
};

}  // namespace

const Template& ConvTemplate() {
  static const ConvTemplateOf instance;
  return instance;
}

}  // namespace hone::schedule
