#include "compiler/schedule/conv/tiles.h"

#include <vector>

#include "compiler/machine/units.h"
#include "compiler/schedule/conv/loops.h"
#include "compiler/schedule/conv/output.h"
#include "compiler/schedule/price/tile_block.h"
#include "compiler/schedule/rewrite/fuse_stages.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "fmt/format.h"

namespace hone::schedule {
namespace {

// "wide": the data is copied to blocks of as many channels as a step takes, which fill the rows of
// a tile; a padded copy is made so anyway. "in_place": a step takes the block that the data has.
std::vector<std::string> DataOptions(const Conv& conv) {
  const bool usable = !conv.copies_data && conv.operand_block > 1 &&
                      conv.operand_block % conv.dot == 0 &&
                      conv.operand_block <= machine::kAmxTile.rows * conv.dot;
  if (!usable) return {"wide"};
  if (conv.operand_block >= std::min(conv.in, machine::kAmxTile.rows * conv.dot)) {
    return {"in_place"};
  }
  return {"wide", "in_place"};
}

// What a step of the sum takes.
struct Step {
  int64_t dots = 1;         // dot products of channels
  bool takes_taps = false;  // those of a row of the window: there is one dot product of channels
};

Step StepOf(const Conv& conv, const std::string& data) {
  Step step;
  step.dots = data == "in_place" ? conv.operand_block / conv.dot : DotsOfStep(conv.in, conv.dot);
  step.takes_taps = step.dots == 1 && conv.in <= conv.dot && conv.taps_w > 1 &&
                    conv.taps_w <= machine::kAmxTile.rows && conv.window.dilation.back() == 1;
  return step;
}

TileBlockProblem BlockProblem(const Conv& conv, const std::string& data) {
  const Step step = StepOf(conv, data);
  TileBlockProblem problem;
  problem.vectors = conv.out_vectors;
  problem.lines = conv.height;
  problem.rows = conv.width;
  problem.steps = CeilDiv(conv.StepsOfChannels(), step.dots) * conv.Taps() /
                  (step.takes_taps ? conv.taps_w : 1);
  problem.grid = conv.batch * conv.depth;
  problem.threads = conv.machine.Threads();
  return problem;
}

// The cycles of bringing the data into wider blocks, on all threads.
double CopyCycles(const Conv& conv, const std::string& data) {
  if (conv.copies_data || data == "in_place") return 0;
  double bytes = static_cast<double>(conv.batch * conv.channels * 4 / conv.dot);
  for (size_t i = 0; i < conv.result_axes.size(); ++i) {
    bytes *= static_cast<double>(conv.result_axes[i] * conv.window.strides[i]);
  }
  return 2 * bytes / conv.machine.copy.conv_tiles_bytes_a_cycle /
         static_cast<double>(conv.machine.Threads());
}

class ConvTilesSchedule {
 public:
  ConvTilesSchedule(const Task& task, const Conv& conv, const Config& config)
      : task_(task),
        conv_(conv),
        config_(config),
        block_(BlockOf(config)),
        rows_(RowsOfTile(conv.width)),
        step_(StepOf(conv, config.String("data"))),
        s_(task.def->naive),
        out_(Stage(conv.view.output)) {}

  absl::StatusOr<loop::Nest> Run() && {
    copy_ = ConvLoops(FuseAroundAnchor(&s_, conv_.view, conv_.copies_data ? conv_.data : ""));
    const Layout blocks = BlockedChannels(conv_.rank(), conv_.lanes);
    sums_ = ConvLoops(s_.CacheWrite(copy_, blocks.ToString()));
    SetSignatureLayouts(&s_, task_);
    const Stage data = PackOperands();
    const std::vector<Loop> grid = ConvGrid(conv_, config_.String("order"), out_.RowTiles());
    SplitConvOutput(&s_, conv_, OutputBlock());
    OrderConvOutput(&s_, conv_, grid);
    TileSums();
    for (const Loop& loop : grid) s_.Parallel(loop);
    if (!data.empty()) ScheduleDataStage(&s_, data, conv_.lanes);
    Specialise();
    return std::move(s_).Finish();
  }

 private:
  RegisterTile OutputBlock() const { return {block_.vectors, block_.lines, block_.tiles * rows_}; }

  // Returns the stage that copies the data; empty: none.
  Stage PackOperands() {
    std::string weight = AxisLetters(conv_.rank());
    if (step_.dots > 1) weight += fmt::format("{}c", step_.dots);
    weight += fmt::format("{}n{}c", block_.vectors * conv_.lanes, conv_.dot);
    s_.Pack(conv_.weight, *Layout::Parse(weight, conv_.rank()));
    Stage copy;
    const Layout blocks = BlockedChannels(conv_.rank(), step_.dots * conv_.dot);
    if (conv_.copies_data) {
      copy = Stage(conv_.data);
      s_.SetLayout(conv_.data, blocks);
    } else if (config_.String("data") == "wide") {
      copy = s_.Pack(conv_.data, blocks);
    }
    s_.SumPadLanes(sums_.Reduction(0), step_.dots * conv_.dot);
    return copy;
  }

  // Sums of a block, and their copy in memory, which the epilogue reads.
  void TileSums() {
    ComputeAtOptions options;
    options.align.assign(static_cast<size_t>(conv_.rank()), 1);
    options.align[1] = conv_.lanes;
    options.layout = BlockedChannels(conv_.rank(), conv_.lanes).ToString();
    s_.ComputeAt(copy_, out_.ColumnTiles(), options);
    options.scope = loop::Scope::kTile;
    s_.ComputeAt(sums_, out_.ColumnTiles(), options);
    s_.Decompose(sums_.Axis(1));
    for (const ConvLoops& stage : {copy_, sums_.Init(), sums_}) SplitTiles(stage);
    OrderSteps();
  }

  // Lines, tiles of their pixels, vectors; inside of them rows and lanes.
  std::vector<Loop> TilesOf(const ConvLoops& stage) const {
    std::vector<Loop> loops;
    if (conv_.spatial > 1) loops.push_back(conv_.Axis(stage, 2));
    loops.insert(loops.end(), {stage.PixelTiles(), stage.ChannelVectors()});
    return loops;
  }

  void SplitTiles(const ConvLoops& stage) {
    s_.Split(stage.Axis(1), conv_.lanes, Tail::kExact, stage.ChannelVectors(), stage.Lane());
    s_.Split(conv_.Axis(stage, 1), rows_, Tail::kClip, stage.PixelTiles(), stage.TilePixel());
    std::vector<Loop> order = TilesOf(stage);
    order.insert(order.end(), {stage.TilePixel(), stage.Lane()});
    s_.ReorderPresent(order);
    s_.VectorizeAll(stage.Lane());
  }

  // Blocks of input channels, taps; inside of them the tiles.
  void OrderSteps() {
    const Loop channels = sums_.InputChannels();
    std::vector<Loop> order = {sums_.InputBlocks()};
    s_.Split(sums_.Reduction(0), step_.dots * conv_.dot, Tail::kExact, order[0], channels);
    s_.Split(channels, conv_.dot, Tail::kExact, channels, sums_.Dot());
    for (int d = conv_.spatial; d > (step_.takes_taps ? 1 : 0); --d) {
      order.push_back(conv_.Tap(sums_, d));
    }
    for (const Loop& loop : TilesOf(sums_)) order.push_back(loop);
    order.push_back(sums_.TilePixel());
    order.push_back(step_.takes_taps ? conv_.Tap(sums_, 1) : channels);
    order.insert(order.end(), {sums_.Lane(), sums_.Dot()});
    s_.ReorderPresent(order, /*allow_reassociation=*/true);
  }

  // Tails get bodies of their own, of constant sizes; each tile is a place of its own.
  void Specialise() {
    s_.Simplify();
    const bool pads_lanes = conv_.out % conv_.lanes != 0;
    if (conv_.width % (block_.tiles * rows_) != 0) s_.PeelAll(out_.ColumnTiles(), 0, 1);
    if (conv_.height % block_.lines != 0) s_.PeelAll(out_.RowTiles(), 0, 1);
    if (conv_.out_vectors % block_.vectors != 0 || pads_lanes)
      s_.PeelAll(out_.ChannelBlocks(), 0, 1);
    s_.UnrollAll(out_.ChannelVectors());
    s_.DotAll(sums_.Dot());
    for (const ConvLoops& part : {copy_, sums_}) {  // those that set to zero are copies of these
      if (conv_.width % rows_ != 0) s_.PeelAll(part.PixelTiles(), 0, 1);
      for (const Loop& loop : TilesOf(part)) s_.UnrollAll(loop);
      s_.TileAll(part.TilePixel());
    }
  }

  const Task& task_;
  const Conv& conv_;
  const Config& config_;
  TileBlock block_;
  int64_t rows_;  // of a tile
  Step step_;
  Sequence s_;
  ConvLoops out_;
  ConvLoops copy_;  // of the sums, in memory
  ConvLoops sums_;
};

bool HasConvTiles(const Conv& conv, const machine::Machine& machine) {
  return !conv.transposed && conv.groups == 1 && conv.width > 1 && HasTiles(machine, conv.kind);
}

class ConvTilesPlan final : public Plan {
 public:
  explicit ConvTilesPlan(std::shared_ptr<const Problem<Conv>> problem)
      : problem_(std::move(problem)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    if (!prefix.Has("data")) return TextKnob("data", DataOptions(conv()));
    if (auto knob = NextBlockKnob(BlockProblem(conv(), prefix.String("data")), prefix)) {
      return knob;
    }
    if (!prefix.Has("order")) return TextKnob("order", GridOrders(conv()));
    return std::nullopt;
  }
  std::vector<PricedConfig> Ranked() const override {
    std::optional<PricedConfig> best;
    for (const std::string& data : DataOptions(conv())) {
      const TileBlockProblem problem = BlockProblem(conv(), data);
      const TileBlock block = BestBlock(problem);
      const double cycles = BlockCycles(problem, block) + CopyCycles(conv(), data);
      if (best && best->cycles <= cycles) continue;
      best.emplace();
      best->cycles = cycles;
      best->config.Set("data", data);
      SetBlock(block, &best->config);
      // Weights of a block are read once a row of blocks: keep them by going down the rows first.
      best->config.Set("order", std::string("oc_oh"));
    }
    return {*std::move(best)};
  }
  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return ConvTilesSchedule(problem_->task, conv(), config).Run();
  }

 private:
  const Conv& conv() const { return problem_->kernel; }

  const std::shared_ptr<const Problem<Conv>> problem_;
};

}  // namespace

int64_t WideBlock(const Conv& conv, const machine::Machine& machine) {
  return HasConvTiles(conv, machine) ? machine::kAmxTile.rows * conv.dot : 0;
}

std::unique_ptr<const Plan> OpenConvTiles(const std::shared_ptr<const Problem<Conv>>& problem) {
  if (!HasConvTiles(problem->kernel, problem->kernel.machine)) return nullptr;
  return std::make_unique<ConvTilesPlan>(problem);
}

}  // namespace hone::schedule
