#include "compiler/schedule/conv/direct_schedule.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/conv/output.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/rewrite/fuse_stages.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "fmt/format.h"

namespace hone::schedule {
namespace {

// A tile's sums are taken at once, in registers.
class DirectSchedule {
 public:
  DirectSchedule(const Task& task, const Conv& conv, const Config& config)
      : task_(task),
        conv_(conv),
        config_(config),
        tile_(TileOf(config)),
        s_(task.def->naive),
        out_(Stage(conv.view.output)),
        border_(conv.copies_data && config.String("pad") == "border"),
        slices_(config.String("pad") == "slices"),
        copies_(slices_ || (conv.copies_data && config.String("pad") == "copy")) {}
  virtual ~DirectSchedule() = default;
  DirectSchedule(const DirectSchedule&) = delete;
  DirectSchedule& operator=(const DirectSchedule&) = delete;

  absl::StatusOr<loop::Nest> Run() && {
    anchor_ = ConvLoops(FuseAroundAnchor(&s_, conv_.view, copies_ ? conv_.data : ""));
    if (slices_) s_.InlinePadding(Stage(conv_.data), 2);
    const Stage result = out_;
    if (conv_.copies_result) ComputeApart();
    SetLayouts();
    SplitConvOutput(&s_, conv_, tile_);
    OrderOutput();
    ComputeSums();
    for (const Loop& loop : Grid()) s_.Parallel(loop);
    if (copies_) ScheduleDataStage(&s_, Stage(conv_.data), conv_.lanes);
    if (!packed_data_.empty()) ScheduleDataStage(&s_, packed_data_, conv_.lanes);
    if (conv_.copies_result) ScheduleDataStage(&s_, result, conv_.result_block);
    Specialise();
    if (conv_.Dots()) s_.DotAll(anchor_.Dot());
    return std::move(s_).Finish();
  }

 protected:
  // These are what ChunkedConv does otherwise. The loops that threads share, outermost first:
  virtual std::vector<Loop> Grid() const {
    return ConvGrid(conv_, config_.String("order"), out_.RowTiles());
  }
  virtual void OrderOutput() { OrderConvOutput(&s_, conv_, Grid()); }
  virtual void ComputeSums() {
    SumTiles(out_.ColumnTiles(), loop::Scope::kRegister);
    if (border_ || slices_) LeaveOutPadding(anchor_, steps_);
    if (PrefetchesColumns()) {
      std::vector<Loop> loops = Grid();
      loops.push_back(out_.ColumnTiles());
      PrefetchNextColumns(std::move(loops), anchor_);
    }
    const int64_t prefetch = config_.Int("prefetch");
    if (prefetch == kPrefetchResult) PrefetchNextResult();
    if (prefetch >= kPrefetchData) PrefetchNextRow();
    if (prefetch != kPrefetchWeights) return;
    // One line of the next channels' weights a step, or of as many as are unrolled; the tiles of a
    // row take turns.
    PrefetchOptions options;
    options.ahead = out_.ChannelBlocks();
    options.inner = anchor_.ChannelVectors();
    options.turn = out_.ColumnTiles();
    s_.Prefetch(step_, packed_.buffer(), options);
  }
  // While all output channels of a row are computed the data of the next one comes, a few lines at
  // each block of channels.
  void PrefetchNextRow() {
    const std::vector<Loop> grid = Grid();
    PrefetchRegionOptions next;
    next.ahead.assign(grid.begin(), std::find(grid.begin(), grid.end(), out_.ChannelBlocks()));
    next.turns = {out_.ChannelBlocks(), out_.ColumnTiles(), anchor_.InputBlocks()};
    next.line_axis = 1;
    s_.PrefetchRegion(conv_.data, next);
  }
  // While a tile's sums are taken the lines come that the next one is stored to, and those that are
  // added to it.
  void PrefetchNextResult() {
    PrefetchRegionOptions next;
    next.ahead = Grid();
    next.ahead.push_back(out_.ColumnTiles());
    next.turns = {anchor_.InputBlocks()};
    next.line_axis = 1;
    for (const std::string& joined : conv_.joined) s_.PrefetchRegion(joined, next);
    s_.PrefetchRegion(out_.buffer(), next);
  }

  bool PrefetchesColumns() const { return config_.Has("columns") && config_.Int("columns") == 1; }
  // The next channels of the tile's columns, or those of the next iteration of `loops`, come into
  // the first cache while these are summed: all columns read a new line in the same step, more than
  // a core waits for at once.
  void PrefetchNextColumns(std::vector<Loop> loops, const ConvLoops& sums) {
    PrefetchRegionOptions next;
    next.ahead = std::move(loops);
    next.ahead.push_back(sums.InputBlocks());
    next.turns = {sums.InputChannels()};
    next.line_axis = 1;
    next.locality = 3;
    s_.PrefetchRegion(conv_.data, next);
  }

  // The loops of the steps of the sum, `steps`, and of the tile.
  virtual std::vector<Loop> WithTile(std::vector<Loop> steps) {
    for (const Loop& axis : TileAxes(anchor_)) steps.push_back(axis);
    return steps;
  }
  virtual void PeelTiles() {
    if (border_) return PeelBorder(out_.RowTiles(), out_.ColumnTiles(), anchor_);
    if (HasShortColumn()) s_.PeelAll(out_.ColumnTiles(), 0, 1);
    if (HasShortRow()) s_.PeelAll(out_.RowTiles(), 0, 1);
  }
  virtual void UnrollTile() {
    for (const Loop& axis : TileAxes(anchor_)) s_.UnrollAll(axis);
  }

  // The sums that an iteration of `loop` needs, in its body.
  void SumTiles(const Loop& loop, loop::Scope scope) {
    ComputeAtOptions options;
    options.scope = scope;
    options.align.assign(static_cast<size_t>(conv_.rank()), 1);
    options.align[1] = conv_.lanes;
    options.layout = BlockedData(conv_.lanes).ToString();
    s_.ComputeAt(anchor_, loop, options);
    s_.Decompose(anchor_.Axis(1));
    const ConvLoops init = anchor_.Init();
    for (const ConvLoops& part : {init, anchor_}) {
      s_.Split(part.Axis(1), conv_.lanes, Tail::kExact, part.ChannelVectors(), part.Lane());
    }
    std::vector<Loop> zeros = TileAxes(init);
    zeros.insert(zeros.end(), {init.ChannelVectors(), init.Lane()});
    s_.ReorderPresent(zeros);
    OrderSteps();
    s_.VectorizeAll(anchor_.Lane());
  }

  // Steps of the stage `sums` alone, `steps` around its sum.
  void LeaveOutPadding(const ConvLoops& sums, const std::vector<Loop>& steps) {
    std::vector<Loop> taps;
    for (int d = 2; d <= conv_.spatial; ++d) taps.push_back(conv_.Tap(sums, d));
    s_.LeaveOutPadding(steps, sums.Lane(), taps);
  }

  // `rows` and `columns` of tiles that leave the data. Of a tile of one row the taps of the height
  // that do are none of its steps already; of one of several each row leaves out others.
  void PeelBorder(const Loop& rows, const Loop& columns, const ConvLoops& sums) {
    if (tile_.rows > 1) {
      PeelBorder(rows, RowBorder(conv_, tile_), conv_.Tap(sums, 2), conv_.height <= tile_.rows);
    }
    PeelBorder(columns, ColumnBorder(conv_, tile_), conv_.Tap(sums, 1),
               conv_.width <= tile_.columns);
  }

  bool HasShortRow() const { return conv_.height % tile_.rows != 0; }
  bool HasShortColumn() const { return conv_.width % tile_.columns != 0; }

  const Task& task_;
  Conv conv_;
  const Config& config_;
  RegisterTile tile_;
  Sequence s_;
  ConvLoops out_;     // the stage of the result, or of what is copied to it
  ConvLoops anchor_;  // of the sums
  Stage packed_;      // of the weights
  bool border_;       // there is no padded copy: tiles at the border are apart

 private:
  // The result into a buffer in blocks of the tile's lanes, which a last stage copies.
  void ComputeApart() {
    if (conv_.view.anchor_is_output) {
      out_ = anchor_;
      anchor_ = ConvLoops(s_.CacheWrite(out_));
    } else {
      out_ = ConvLoops(s_.CacheWrite(out_));
    }
    conv_.view.output = out_.buffer();
  }

  void SetLayouts() {
    SetSignatureLayouts(&s_, task_);
    if (conv_.copies_result) s_.SetLayout(out_.buffer(), BlockedData(conv_.lanes));
    PackWeight();
    const int64_t channels = ChannelBlock(conv_);
    if (copies_ && channels > 1) s_.SetLayout(conv_.data, BlockedData(channels));
    if (conv_.packs_data) packed_data_ = s_.Pack(conv_.data, BlockedData(channels));
    if (conv_.Dots()) s_.SumPadLanes(anchor_.Reduction(0), conv_.dot);
  }

  // As the steps read it.
  Layout WeightLayout() const {
    std::string blocks = AxisLetters(conv_.rank());
    if (conv_.transposed && conv_.LanesDiffer()) {  // groups of one channel of the data
      blocks += fmt::format("{}n", tile_.vectors * conv_.lanes / conv_.GroupOut());
      if (conv_.GroupOut() > 1) blocks += fmt::format("{}c", conv_.GroupOut());
      return *Layout::Parse(blocks, conv_.rank());
    }
    if (conv_.transposed) std::swap(blocks[0], blocks[1]);
    if (conv_.groups > 1 && !conv_.SumsBlocks()) {  // the channels are summed within the taps
      std::rotate(blocks.begin() + 1, blocks.begin() + 2, blocks.end());
    }
    const char in = conv_.transposed ? 'n' : 'c', out = conv_.transposed ? 'c' : 'n';
    if (conv_.SumsBlocks()) {
      blocks += fmt::format("{}{}", conv_.lanes / conv_.dot, in);
    }
    blocks += fmt::format("{}{}", tile_.vectors * conv_.lanes, out);
    if (conv_.Dots()) blocks += fmt::format("{}{}", conv_.dot, in);
    return *Layout::Parse(blocks, conv_.rank());
  }

  void PackWeight() {
    const Layout layout = WeightLayout();
    if (conv_.weight_pad.empty()) {
      packed_ = s_.Pack(conv_.weight, layout);
      return;
    }
    packed_ = Stage(conv_.weight_pad);
    s_.SetLayout(packed_.buffer(), layout);
    if (conv_.weight_is_constant) s_.Prepare(packed_);
  }

  // A stage's spatial axes, outermost first.
  std::vector<Loop> TileAxes(const Stage& stage) const {
    std::vector<Loop> axes;
    for (int d = conv_.spatial; d > 0; --d) axes.push_back(conv_.Axis(stage, d));
    return axes;
  }
  Layout BlockedData(int64_t channels) const { return BlockedChannels(conv_.rank(), channels); }

  // The steps of the sum: input channel blocks, taps, channels of a block; the tile innermost.
  void OrderSteps() {
    std::vector<Loop> steps;
    const Loop ic = anchor_.Reduction(0);
    Loop channels = ic;
    Loop inner = ic;
    for (int d = conv_.spatial; d > 0; --d) steps.push_back(conv_.Tap(anchor_, d));
    if (conv_.SumsBlocks()) {
      s_.Split(ic, conv_.lanes, Tail::kClip, anchor_.InputBlocks(), anchor_.InputChannels());
      inner = channels = anchor_.InputChannels();
      steps.insert(steps.begin(), anchor_.InputBlocks());
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
      s_.Split(inner, unroll * channels_of_step, Tail::kExact, inner, anchor_.Unrolled());
      steps.push_back(anchor_.Unrolled());
      if (inner == channels) channels = anchor_.Unrolled();
    }
    if (conv_.Dots()) s_.Split(channels, conv_.dot, Tail::kExact, channels, anchor_.Dot());
    steps = WithTile(std::move(steps));
    if (conv_.LanesDiffer()) {  // what is loaded of the data serves all channels
      std::erase(steps, ic);
      steps.push_back(ic);
    }
    steps.insert(steps.end(), {anchor_.ChannelVectors(), anchor_.Lane(), anchor_.Dot()});
    s_.ReorderPresent(steps, /*allow_reassociation=*/true);
    step_ = inner;
    steps_ = std::move(steps);
  }

  // Tails get bodies of their own, of constant sizes; what is left of the tile is unrolled.
  void Specialise() {
    s_.Simplify();
    const int64_t channels = conv_.StepsOfChannels() * conv_.dot;
    if (s_.Has(anchor_.InputBlocks()) && channels % conv_.lanes != 0) {
      s_.PeelAll(anchor_.InputBlocks(), 0, 1);
    }
    PeelTiles();
    const bool pads_lanes = conv_.out % conv_.lanes != 0;
    if (conv_.out_vectors % tile_.vectors != 0 || pads_lanes)
      s_.PeelAll(out_.ChannelBlocks(), 0, 1);
    s_.UnrollPresent({out_.Row(), out_.Column(), out_.ChannelVectors()});
    s_.UnrollPresent({anchor_.ChannelVectors(), anchor_.Unrolled()});
    UnrollTile();
    if (conv_.LanesDiffer()) s_.UnrollAll(anchor_.Reduction(0));
  }

  // The taps along an axis are unrolled in the tiles that leave the data, or in the only one.
  void PeelBorder(const Loop& tiles, const Border& border, const Loop& taps, bool only_one) {
    s_.PeelAll(tiles, border.first, border.last);
    for (const Loop& copy : LoopCopies(s_.nest(), taps)) {
      if (only_one || copy != taps) s_.UnrollAll(copy);
    }
  }

  bool slices_;              // those of padding are left out
  bool copies_;              // the padded copy is a launch of its own
  Loop step_;                // the innermost loop of the sum that is not unrolled
  std::vector<Loop> steps_;  // all of them, and the tile
  Stage packed_data_;
};

// The tiles of a block of rows take turns, each for a chunk of the input channels: their sums lie
// in memory, and are in registers for a chunk. There are no groups then.
//   for n, ChannelBlocks, d, RowBlocks (the grid) {
//     for Chunks, TurnRows, TurnColumns { steps of the tile }; for RowTiles, ColumnTiles { .. } }
class ChunkedConv : public DirectSchedule {
 public:
  using DirectSchedule::DirectSchedule;

 private:
  std::vector<Loop> Grid() const override {
    return ConvGrid(conv_, config_.String("order"), out_.RowBlocks());
  }

  void OrderOutput() override {
    s_.Split(out_.RowTiles(), BlockRows(), Tail::kClip, out_.RowBlocks(), out_.RowTiles());
    std::vector<Loop> outer = Grid();
    outer.push_back(out_.RowTiles());
    OrderConvOutput(&s_, conv_, outer);
  }

  void ComputeSums() override {
    SumTiles(Grid().back(), loop::Scope::kLocal);
    const Loop last = s_.LastOf({anchor_.TurnRows(), anchor_.TurnColumns()});
    chunk_sums_ = ConvLoops(s_.SumLocally(last));
    s_.VectorizeAll(anchor_.Init().Lane());
    for (const ConvLoops& part : {chunk_sums_, chunk_sums_.Init()}) s_.VectorizeAll(part.Lane());
    if (PrefetchesColumns()) {
      std::vector<Loop> loops = Grid();
      loops.insert(loops.end(), {anchor_.Chunks(), anchor_.TurnRows(), anchor_.TurnColumns()});
      PrefetchNextColumns(std::move(loops), chunk_sums_);
    }
    if (config_.Int("prefetch") != 0) PrefetchNextChunk();
  }

  // While all tiles of a block are computed for a chunk the weights of the next one come, a few
  // lines at each tap and block of channels: in a burst they would wait for one another. Taps that
  // rows at the border leave out have no turn: the last one is that of Tap 1 then, which WithTile
  // puts around the others.
  void PrefetchNextChunk() {
    PrefetchRegionOptions next;
    next.ahead = Grid();
    next.ahead.push_back(anchor_.Chunks());
    next.turns = {anchor_.TurnRows(), anchor_.TurnColumns(), chunk_sums_.InputBlocks()};
    next.line_axis = conv_.transposed ? 1 : 0;
    for (int d = border_ ? 1 : conv_.spatial; d > 0; --d) {
      next.turns.push_back(conv_.Tap(chunk_sums_, d));
    }
    s_.PrefetchRegion(packed_.buffer(), next);
  }

  std::vector<Loop> WithTile(std::vector<Loop> steps) override {
    s_.SplitIfPresent(conv_.Axis(anchor_, 2), tile_.rows, Tail::kClip, anchor_.TurnRows(),
                      anchor_.Row());
    s_.SplitIfPresent(conv_.Axis(anchor_, 1), tile_.columns, Tail::kClip, anchor_.TurnColumns(),
                      anchor_.Column());
    s_.Split(anchor_.InputBlocks(), config_.Int("chunk"), Tail::kExact, anchor_.Chunks(),
             anchor_.InputBlocks());
    steps.insert(steps.begin(), {anchor_.Chunks(), anchor_.TurnRows(), anchor_.TurnColumns()});
    for (const Loop& loop : {anchor_.Row(), anchor_.Column()}) steps.push_back(loop);
    // Tap 1 first, which every tile takes: PrefetchNextChunk and StepsOfTap rely on it.
    if (border_) {
      const auto taps = std::ranges::find(steps, conv_.Tap(anchor_, conv_.spatial));
      std::rotate(taps, taps + conv_.spatial - 1, taps + conv_.spatial);
    }
    return steps;
  }

  // Inside Tap 1, as WithTile orders them: below the prefetches, which have their last turn there.
  std::vector<Loop> StepsOfTap() const {
    const ConvLoops& sums = chunk_sums_;
    std::vector<Loop> steps;
    for (int d = conv_.spatial; d > 1; --d) steps.push_back(conv_.Tap(sums, d));
    steps.insert(steps.end(), {sums.InputChannels(), sums.Unrolled(), sums.Row(), sums.Column(),
                               sums.ChannelVectors(), sums.Lane()});
    return steps;
  }

  // The last block of rows, and the last rows and columns of tiles of a block, or those at the
  // border: one row is no loop any more, so that bounds of the taps can say what is outside.
  void PeelTiles() override {
    if (border_) {
      LeaveOutPadding(chunk_sums_, StepsOfTap());
      PeelBorder(anchor_.TurnRows(), anchor_.TurnColumns(), chunk_sums_);
    }
    if (HasShortColumn()) s_.PeelAll(out_.ColumnTiles(), 0, 1);
    const int64_t rows = CeilDiv(conv_.height, tile_.rows);
    if (HasShortRow() || rows % BlockRows() != 0) s_.PeelAll(out_.RowBlocks(), 0, 1);
    if (HasShortRow()) s_.PeelAll(out_.RowTiles(), 0, 1);
    if (border_) return;
    if (HasShortRow()) s_.PeelAll(anchor_.TurnRows(), 0, 1);
    if (HasShortColumn()) s_.PeelAll(anchor_.TurnColumns(), 0, 1);
  }

  void UnrollTile() override {
    const ConvLoops& sums = chunk_sums_;
    for (const Loop& loop :
         {anchor_.Row(), anchor_.Column(), sums.Row(), sums.Column(), sums.ChannelVectors()}) {
      s_.UnrollAll(loop);
    }
    s_.UnrollPresent({sums.Unrolled()});
  }

  int64_t BlockRows() const { return config_.Int("block_h"); }

  ConvLoops chunk_sums_;  // in registers
};

}  // namespace

InnerLoop InnerOf(const Conv& conv) {
  if (conv.SumsBlocks()) return InnerLoop::kBlock;
  if (conv.blocked_data) return InnerLoop::kChannels;
  return conv.taps_w > 1 ? InnerLoop::kTaps : InnerLoop::kChannels;
}

absl::StatusOr<loop::Nest> ScheduleConvDirect(const Task& task, const Conv& conv,
                                              const Config& config) {
  if (config.Int("chunk") > 0) return ChunkedConv(task, conv, config).Run();
  return DirectSchedule(task, conv, config).Run();
}

}  // namespace hone::schedule
