#include "compiler/schedule/conv/rows.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/schedule/conv/loops.h"
#include "compiler/schedule/conv/output.h"
#include "compiler/schedule/kernel/window_border.h"
#include "compiler/schedule/parts.h"
#include "compiler/schedule/price/issue.h"
#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/rewrite/fuse_stages.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {
namespace {

int64_t WidthVectors(const Conv& conv) { return CeilDiv(conv.width, conv.target_lanes); }

constexpr int64_t kMostRows = 8;

// Rows of a transposed convolution whose phases read the same data: a tile has them all, if it can.
// 1: of one phase, all rows that it has, or a tile's.
int64_t RowPhases(const Conv& conv) {
  const int64_t phases = conv.spatial > 1 ? conv.Phases(2) : 1;
  return phases <= kMostRows ? phases : 1;
}

// That tiles share out.
int64_t RowsOf(const Conv& conv) {
  return RowPhases(conv) > 1 ? conv.result_axes[static_cast<size_t>(conv.spatial - 2)]
                             : conv.height;
}

// What a step reads for a tile, whose columns are output channels.
struct Reads {
  int64_t vectors = 1;  // of data
  int64_t weights = 1;
};

// Neighbouring rows start to read the next row of data where their phases do.
Reads ReadsOf(const Conv& conv, const RegisterTile& tile) {
  const int64_t phases = RowPhases(conv);
  if (phases == 1) return {tile.vectors * tile.rows, tile.columns};
  return {tile.vectors * (tile.rows / phases + 1), tile.columns * phases};
}

// The registers that a tile takes: of its weights and vectors of data, those that are fewer stay
// there, and the others come one by one.
int64_t RegistersOf(const Conv& conv, const RegisterTile& tile) {
  const Reads reads = ReadsOf(conv, tile);
  return tile.vectors * tile.rows * tile.columns + std::min(reads.vectors, reads.weights) + 1;
}

bool Fits(const Conv& conv, const RegisterTile& tile) {
  return RegistersOf(conv, tile) <= conv.machine.vector.registers;
}

// A tile is of one group: all of it reads the same channels.
std::vector<int64_t> ChannelOptions(const Conv& conv) {
  const auto fits = [&](int64_t channels) { return Fits(conv, {1, RowPhases(conv), channels}); };
  if (conv.groups == 1) return EvenSizes(conv.out, conv.machine.vector.registers, fits);
  std::vector<int64_t> options;
  for (int64_t channels = 1; channels <= conv.GroupOut() && fits(channels); ++channels) {
    if (conv.GroupOut() % channels == 0) options.push_back(channels);
  }
  return options;
}

std::vector<int64_t> VectorOptions(const Conv& conv, int64_t channels) {
  constexpr int64_t kMost = 8;
  return EvenSizes(WidthVectors(conv), kMost, [&](int64_t vectors) {
    return Fits(conv, {vectors, RowPhases(conv), channels});
  });
}

// Rows of the result that a tile may have, as many of each phase.
std::vector<int64_t> RowOptions(const Conv& conv, int64_t channels, int64_t vectors) {
  const int64_t phases = RowPhases(conv);
  std::vector<int64_t> options =
      EvenSizes(CeilDiv(RowsOf(conv), phases), kMostRows / phases,
                [&](int64_t rows) { return Fits(conv, {vectors, rows * phases, channels}); });
  for (int64_t& rows : options) rows *= phases;
  return options;
}

// The innermost spatial axis with several taps, counted from the last; 0: there is none, and the
// innermost steps of the sum are channels.
int InnerTaps(const Conv& conv) {
  for (int from_last = 1; from_last <= conv.spatial; ++from_last) {
    if (conv.window.taps[static_cast<size_t>(conv.spatial - from_last)] > 1) return from_last;
  }
  return 0;
}

std::vector<int64_t> RowUnrolls(const Conv& conv, const RegisterTile& tile) {
  const int axis = InnerTaps(conv);
  if (axis == 0) return UnrollOptions({2, 4, 8}, conv.in, tile);
  const int64_t taps = conv.window.taps[static_cast<size_t>(conv.spatial - axis)];
  return UnrollOptions({taps}, taps, tile);
}

Border VectorBorder(const Conv& conv, const RegisterTile& tile) {
  return BorderOf(conv.window, conv.spatial - 1, conv.data_width, conv.width,
                  tile.vectors * conv.target_lanes);
}

// Whether what tiles at the border have to ask is settled by code of their own for one tile on each
// side; slices of a depth have no tiles.
bool HasBorderTiles(const Conv& conv, const RegisterTile& tile) {
  const auto is_within = [](const Border& border, int64_t most) {
    return border.first <= most && border.last <= most;
  };
  const bool slices =
      conv.spatial < 3 || is_within(BorderOf(conv.window, 0, conv.data_depth, conv.depth, 1), 0);
  const bool rows = conv.spatial < 2 || is_within(RowBorder(conv, tile), 1);
  return conv.pads && slices && rows && is_within(VectorBorder(conv, tile), 1);
}

// "border": tiles at the border are apart and ask what is outside. "copy": the last stage before
// the sums fills a buffer, with the zeros around the data where it pads. "none": there is neither.
std::vector<std::string> PadOptions(const Conv& conv, const RegisterTile& tile) {
  if (!conv.copies_data) return {"none"};
  if (!HasBorderTiles(conv, tile)) return {"copy"};
  return {"border", "copy"};
}

// Lanes that gather from blocks are slower than a row-major copy.
bool PacksOperand(const Conv& conv, const std::string& pad) {
  return conv.operand_block > 1 && pad != "copy";
}

class ConvRowsSchedule {
 public:
  ConvRowsSchedule(const Task& task, const Conv& conv, const Config& config)
      : task_(task),
        conv_(conv),
        config_(config),
        tile_(TileOf(config)),
        s_(task.def->naive),
        out_(Stage(conv.view.output)) {}

  absl::StatusOr<loop::Nest> Run() && {
    const std::string& pad = config_.String("pad");
    Stage copy(pad == "copy" ? conv_.data : "");
    anchor_ = ConvLoops(FuseAroundAnchor(&s_, conv_.view, copy.buffer()));
    SetSignatureLayouts(&s_, task_);
    if (PacksOperand(conv_, pad)) {
      copy = s_.Pack(conv_.view.op->args[0], Layout::RowMajor(conv_.rank()));
    }
    PackWeight();
    TileOutput();
    SumTile();
    if (!copy.empty()) ScheduleDataStage(&s_, copy, conv_.target_lanes);
    Specialise();
    return std::move(s_).Finish();
  }

 private:
  void PackWeight() {
    const int axis = conv_.transposed ? 1 : 0;
    if (conv_.weight_pad.empty()) {
      return PackChannelsTogether(&s_, conv_.weight, conv_.rank(), axis, tile_.columns);
    }
    if (tile_.columns > 1) {
      s_.SetLayout(conv_.weight_pad, BlockedLayout(conv_.rank(), axis, tile_.columns));
    }
    s_.Prepare(Stage(conv_.weight_pad));
  }

  // for n, d, RowTiles (the grid; of one axis: n, ColumnTiles) {
  //   for ColumnTiles, ChannelBlocks { for Row, Channel, Pixels } }
  // Phases that are not in a tile are just inside the axis's tiles: they read the same data.
  void TileOutput() {
    for (int d = conv_.spatial; d > 0; --d) {
      if (IsSplitByPhases(d)) SplitPhases(&s_, conv_, d);
    }
    s_.Split(conv_.Axis(out_, 1), tile_.vectors * conv_.target_lanes, Tail::kClip,
             out_.ColumnTiles(), out_.Pixels());
    s_.Split(out_.Axis(1), tile_.columns, Tail::kClip, out_.ChannelBlocks(), out_.Channel());
    if (conv_.spatial > 1) {
      s_.Split(conv_.Axis(out_, 2), tile_.rows, Tail::kClip, out_.RowTiles(), out_.Row());
    }
    std::vector<Loop> grid = {out_.Axis(0)};
    const auto add = [&](int d, std::vector<Loop>* loops) {
      loops->push_back(d == 1   ? out_.ColumnTiles()
                       : d == 2 ? out_.RowTiles()
                                : conv_.Axis(out_, d));
      if (IsSplitByPhases(d)) loops->push_back(conv_.Axis(out_, d).Phase());
    };
    for (int d = conv_.spatial; d > 1; --d) add(d, &grid);
    if (conv_.spatial == 1) add(1, &grid);
    std::vector<Loop> order = grid;
    if (conv_.spatial > 1) add(1, &order);
    order.insert(order.end(), {out_.ChannelBlocks(), out_.Row(), out_.Channel(), out_.Pixels()});
    s_.ReorderPresent(order);
    for (const Loop& loop : grid) s_.Parallel(loop);
  }

  bool IsSplitByPhases(int from_last) const {
    const bool in_tile = from_last == 2 && RowPhases(conv_) > 1;
    return conv_.Phases(from_last) > 1 && !in_tile;
  }

  // Pixels beyond the last do not exist: the last vector of a row is masked.
  void SumTile() {
    ComputeAtOptions options;
    options.layout = BlockedLayout(conv_.rank(), conv_.rank() - 1, conv_.target_lanes).ToString();
    s_.ComputeAt(anchor_, out_.ChannelBlocks(), options);
    s_.Decompose(s_.FirstOf(anchor_.Axes(static_cast<size_t>(conv_.rank()))));
    for (const ConvLoops& part : {anchor_.Init(), anchor_}) {
      s_.Split(conv_.Axis(part, 1), conv_.target_lanes, Tail::kGuard, part.Vectors(), part.Lane());
    }
    s_.Split(out_.Pixels(), conv_.target_lanes, Tail::kGuard, out_.Vectors(), out_.Lane());
    OrderSteps();
    for (const ConvLoops& stage : {anchor_, out_}) s_.VectorizeAll(stage.Lane());
  }

  void OrderSteps() {
    std::vector<Loop> steps = {anchor_.Reduction(0)};
    for (int d = conv_.spatial; d > 0; --d) steps.push_back(conv_.Tap(anchor_, d));
    const int64_t unroll = config_.Int("unroll");
    if (unroll > 1) {
      const int axis = InnerTaps(conv_);
      const Loop inner = axis > 0 ? conv_.Tap(anchor_, axis) : steps[0];
      s_.Split(inner, unroll, Tail::kExact, inner, anchor_.Unrolled());
      steps.push_back(anchor_.Unrolled());
    }
    // What there is less of is kept in registers by the loops inside. Rows that read the same data
    // follow one another.
    std::vector<Loop> tile = {anchor_.Vectors()};
    if (conv_.spatial > 1) {
      const bool together = RowPhases(conv_) > 1;
      tile.insert(together ? tile.end() : tile.begin(), conv_.Axis(anchor_, 2));
    }
    const Reads reads = ReadsOf(conv_, tile_);
    tile.insert(reads.vectors <= reads.weights ? tile.begin() : tile.end(), anchor_.Axis(1));
    steps.insert(steps.end(), tile.begin(), tile.end());
    steps.push_back(anchor_.Lane());
    s_.ReorderPresent(steps);
  }

  void Specialise() {
    s_.Simplify();
    PeelTiles();
    s_.UnrollPresent({out_.Row(), out_.Channel(), out_.Vectors()});
    s_.UnrollPresent({anchor_.Vectors(), anchor_.Unrolled()});
    for (const Loop& axis : anchor_.Axes(static_cast<size_t>(conv_.rank() - 1))) {
      s_.UnrollAll(axis);
    }
  }

  void PeelTiles() {
    Border rows = TailBorder(RowsOf(conv_), tile_.rows);
    Border columns = TailBorder(conv_.width, tile_.vectors * conv_.target_lanes);
    if (config_.String("pad") == "border") {
      if (conv_.spatial > 1) rows = RowBorder(conv_, tile_);
      columns = VectorBorder(conv_, tile_);
    }
    s_.PeelAll(out_.ColumnTiles(), columns.first, columns.last);
    if (conv_.spatial > 1) s_.PeelAll(out_.RowTiles(), rows.first, rows.last);
    if (conv_.out % tile_.columns != 0) s_.PeelAll(out_.ChannelBlocks(), 0, 1);
  }

  const Task& task_;
  const Conv& conv_;
  const Config& config_;
  RegisterTile tile_;
  Sequence s_;
  ConvLoops out_;
  ConvLoops anchor_;
};

// The cycles of a step: those of its multiplications, or of its loads of data, which mostly lie
// across two lines, and of weights. Each row is one more stream to fetch.
double RowStepCycles(const Conv& conv, const RegisterTile& tile) {
  const auto products = static_cast<double>(tile.vectors * tile.rows * tile.columns);
  const Reads reads = ReadsOf(conv, tile);
  const auto loads = static_cast<double>(2 * reads.vectors + reads.weights);
  constexpr double kStream = 0.1;
  return StepCycles(conv.machine.issue, products, loads) + kLoopCycles +
         kStream * static_cast<double>(reads.vectors / tile.vectors);
}

double TilesCycles(const Conv& conv, const RegisterTile& tile) {
  const auto steps = static_cast<double>(conv.in * conv.Taps());
  double cycles = 0;
  for (const auto& [v, nv] : Parts(WidthVectors(conv), tile.vectors)) {
    for (const auto& [h, nh] : Parts(RowsOf(conv), tile.rows)) {
      for (const auto& [c, nc] : Parts(conv.out, tile.columns)) {
        const RegisterTile part{v, h, c};
        cycles += static_cast<double>(nv * nh * nc) *
                  (steps * RowStepCycles(conv, part) + TileOverhead(part));
      }
    }
  }
  const int64_t apart = conv.AllPhases() / RowPhases(conv);
  return cycles * static_cast<double>(apart * conv.batch * conv.depth);
}

double CopyCycles(const Conv& conv) {
  return 2 * static_cast<double>(conv.batch * conv.data_bytes) /
         conv.machine.copy.conv_rows_bytes_a_cycle;
}

// Beside the sums: of a copy, or of masks in vectors at the border.
double PaddingCycles(const Conv& conv, const RegisterTile& tile, const std::string& pad) {
  double cycles = PacksOperand(conv, pad) || pad == "copy" ? CopyCycles(conv) : 0;
  if (pad != "border") return cycles;
  constexpr double kMasks = 0.15;  // of their time, for each tap of a row, measured
  const Border border = VectorBorder(conv, {1, 1, 1});
  const int64_t vectors = WidthVectors(conv);
  const int64_t masked = std::min(border.first + border.last, vectors);
  const auto share = static_cast<double>(masked) / static_cast<double>(vectors);
  return cycles + kMasks * static_cast<double>(conv.taps_w) * share * TilesCycles(conv, tile);
}

// A tile that uses all of 32 registers leaves the allocator no slack: it spills.
std::vector<RegisterTile> DefaultTiles(const Conv& conv) {
  const int64_t slack = conv.machine.vector.registers > 16 ? 1 : 0;
  std::vector<RegisterTile> tiles;
  for (const int64_t c : ChannelOptions(conv)) {
    for (const int64_t v : VectorOptions(conv, c)) {
      for (const int64_t h : RowOptions(conv, c, v)) {
        const RegisterTile tile{v, h, c};
        if (tiles.empty() || RegistersOf(conv, tile) + slack <= conv.machine.vector.registers)
          tiles.push_back(tile);
      }
    }
  }
  return tiles;
}

PricedConfig ChoiceOf(const Conv& conv, const RegisterTile& tile, const std::string& pad) {
  PricedConfig choice;
  SetTile(tile, &choice.config);
  choice.config.Set("unroll", RowUnrolls(conv, tile).back());
  choice.config.Set("pad", pad);
  const int64_t along = conv.spatial > 1 ? CeilDiv(RowsOf(conv), tile.rows)
                                         : CeilDiv(WidthVectors(conv), tile.vectors);
  const double cycles = TilesCycles(conv, tile) + PaddingCycles(conv, tile, pad);
  choice.cycles = cycles * LargestPart(conv.batch * conv.depth * along, conv.machine.Threads()) /
                  static_cast<double>(conv.machine.Threads());
  return choice;
}

bool HasConvRows(const Conv& conv) {
  // Lanes of output channels are better where there are enough, and of one group.
  const bool has_vectors = conv.groups == 1
                               ? conv.out >= conv.target_lanes
                               : VectorsFitGroups(conv) && conv.lanes == conv.target_lanes;
  return conv.kind == ProductKind::kFloat && !has_vectors && conv.weight_is_constant &&
         conv.window.strides.back() == 1 && conv.result_block == 1 && conv.result_is_float &&
         conv.width > 1;
}

class ConvRowsPlan final : public Plan {
 public:
  explicit ConvRowsPlan(std::shared_ptr<const Problem<Conv>> problem)
      : problem_(std::move(problem)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    if (!prefix.Has("tile_w")) return IntKnob("tile_w", ChannelOptions(conv()));
    const int64_t channels = prefix.Int("tile_w");
    if (!prefix.Has("tile_v")) return IntKnob("tile_v", VectorOptions(conv(), channels));
    if (!prefix.Has("tile_h")) {
      return IntKnob("tile_h", RowOptions(conv(), channels, prefix.Int("tile_v")));
    }
    if (!prefix.Has("unroll")) return IntKnob("unroll", RowUnrolls(conv(), TileOf(prefix)));
    if (!prefix.Has("pad")) return TextKnob("pad", PadOptions(conv(), TileOf(prefix)));
    return std::nullopt;
  }
  std::vector<PricedConfig> Ranked() const override {
    std::vector<PricedConfig> choices;
    for (const RegisterTile& tile : DefaultTiles(conv())) {
      for (const std::string& pad : PadOptions(conv(), tile)) {
        choices.push_back(ChoiceOf(conv(), tile, pad));
      }
    }
    return {*std::ranges::min_element(choices, {}, &PricedConfig::cycles)};
  }
  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return ConvRowsSchedule(problem_->task, conv(), config).Run();
  }

 private:
  const Conv& conv() const { return problem_->kernel; }

  const std::shared_ptr<const Problem<Conv>> problem_;
};

}  // namespace

std::unique_ptr<const Plan> OpenConvRows(const std::shared_ptr<const Problem<Conv>>& problem) {
  if (!HasConvRows(problem->kernel)) return nullptr;
  return std::make_unique<ConvRowsPlan>(problem);
}

}  // namespace hone::schedule
