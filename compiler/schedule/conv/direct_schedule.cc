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
        out_(conv.view.output),
        border_(conv.copies_data && config.String("pad") == "border"),
        slices_(config.String("pad") == "slices"),
        copies_(slices_ || (conv.copies_data && config.String("pad") == "copy")) {}
  virtual ~DirectSchedule() = default;
  DirectSchedule(const DirectSchedule&) = delete;
  DirectSchedule& operator=(const DirectSchedule&) = delete;

  absl::StatusOr<loop::Nest> Run() && {
    anchor_ = FuseAroundAnchor(&s_, conv_.view, copies_ ? conv_.data : "");
    if (slices_) s_.InlinePadding(conv_.data, 2);
    const std::string result = out_;
    if (conv_.copies_result) ComputeApart();
    SetLayouts();
    SplitConvOutput(&s_, conv_, tile_);
    OrderOutput();
    ComputeSums();
    for (const std::string& loop : Grid()) s_.Parallel(loop);
    if (copies_) ScheduleDataStage(&s_, conv_.data, conv_.lanes);
    if (!packed_data_.empty()) ScheduleDataStage(&s_, packed_data_, conv_.lanes);
    if (conv_.copies_result) ScheduleDataStage(&s_, result, conv_.result_block);
    Specialise();
    if (conv_.Dots()) s_.DotAll(anchor_ + ".dot");
    return std::move(s_).Finish();
  }

 protected:
  // These are what ChunkedConv does otherwise. The loops that threads share, outermost first:
  virtual std::vector<std::string> Grid() const { return ConvGrid(conv_, config_.String("order")); }
  virtual void OrderOutput() { OrderConvOutput(&s_, conv_, Grid()); }
  virtual void ComputeSums() {
    SumTiles(out_ + ".ow", loop::Scope::kRegister);
    if (border_ || slices_) LeaveOutPadding(anchor_, steps_);
    if (PrefetchesColumns()) {
      std::vector<std::string> loops = Grid();
      loops.push_back(out_ + ".ow");
      PrefetchNextColumns(std::move(loops), anchor_);
    }
    const int64_t prefetch = config_.Int("prefetch");
    if (prefetch == kPrefetchResult) PrefetchNextResult();
    if (prefetch >= kPrefetchData) PrefetchNextRow();
    if (prefetch != kPrefetchWeights) return;
    // One line of the next channels' weights a step, or of as many as are unrolled; the tiles of a
    // row take turns.
    PrefetchOptions options;
    options.ahead = out_ + ".oc";
    options.inner = anchor_ + ".ocv";
    options.turn = out_ + ".ow";
    s_.Prefetch(step_, packed_, options);
  }
  // While all output channels of a row are computed the data of the next one comes, a few lines at
  // each block of channels.
  void PrefetchNextRow() {
    const std::vector<std::string> grid = Grid();
    PrefetchRegionOptions next;
    next.ahead.assign(grid.begin(), std::find(grid.begin(), grid.end(), out_ + ".oc"));
    next.turns = {out_ + ".oc", out_ + ".ow", anchor_ + ".icb"};
    next.line_axis = 1;
    s_.PrefetchRegion(conv_.data, next);
  }
  // While a tile's sums are taken the lines come that the next one is stored to, and those that are
  // added to it.
  void PrefetchNextResult() {
    PrefetchRegionOptions next;
    next.ahead = Grid();
    next.ahead.push_back(out_ + ".ow");
    next.turns = {anchor_ + ".icb"};
    next.line_axis = 1;
    for (const std::string& joined : conv_.joined) s_.PrefetchRegion(joined, next);
    s_.PrefetchRegion(out_, next);
  }

  bool PrefetchesColumns() const { return config_.Has("columns") && config_.Int("columns") == 1; }
  // The next channels of the tile's columns, or those of the next iteration of `loops`, come into
  // the first cache while these are summed: all columns read a new line in the same step, more than
  // a core waits for at once.
  void PrefetchNextColumns(std::vector<std::string> loops, const std::string& sums) {
    PrefetchRegionOptions next;
    next.ahead = std::move(loops);
    next.ahead.push_back(sums + ".icb");
    next.turns = {sums + ".ic"};
    next.line_axis = 1;
    next.locality = 3;
    s_.PrefetchRegion(conv_.data, next);
  }

  // The loops of the steps of the sum, `steps`, and of the tile.
  virtual std::vector<std::string> WithTile(std::vector<std::string> steps) {
    for (const std::string& axis : AnchorAxes()) steps.push_back(axis);
    return steps;
  }
  virtual void PeelTiles() {
    if (border_) return PeelBorder(out_ + ".oh", out_ + ".ow", anchor_);
    if (HasShortColumn()) s_.PeelAll(out_ + ".ow", 0, 1);
    if (HasShortRow()) s_.PeelAll(out_ + ".oh", 0, 1);
  }
  virtual void UnrollTile() {
    for (const std::string& axis : AnchorAxes()) s_.UnrollAll(axis);
  }

  // The sums that an iteration of `loop` needs, in its body.
  void SumTiles(const std::string& loop, loop::Scope scope) {
    ComputeAtOptions options;
    options.scope = scope;
    options.align.assign(static_cast<size_t>(conv_.rank()), 1);
    options.align[1] = conv_.lanes;
    options.layout = BlockedData(conv_.lanes).ToString();
    s_.ComputeAt(anchor_, loop, options);
    const std::string c = anchor_ + ".i1";
    s_.Decompose(c);
    for (const std::string& suffix : {std::string("_init"), std::string()}) {
      s_.Split(c + suffix, conv_.lanes, Tail::kExact, anchor_ + ".ocv" + suffix,
               anchor_ + ".lane" + suffix);
    }
    std::vector<std::string> zeros = AnchorAxes("_init");
    for (const char* name : {".ocv_init", ".lane_init"}) zeros.push_back(anchor_ + name);
    s_.ReorderPresent(zeros);
    OrderSteps();
    s_.VectorizeAll(anchor_ + ".lane");
  }

  // Steps of the stage `sums` alone, `steps` around its sum.
  void LeaveOutPadding(const std::string& sums, const std::vector<std::string>& steps) {
    std::vector<std::string> taps;
    for (int d = 2; d <= conv_.spatial; ++d) taps.push_back(conv_.Tap(sums, d));
    s_.LeaveOutPadding(steps, sums + ".lane", taps);
  }

  // `rows` and `columns` of tiles that leave the data. Of a tile of one row the taps of the height
  // that do are none of its steps already; of one of several each row leaves out others.
  void PeelBorder(const std::string& rows, const std::string& columns, const std::string& sums) {
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
  std::string out_;     // the buffer of the result, or that which is copied to it
  std::string anchor_;  // the buffer of the sums; its loops are named after it
  std::string packed_;  // the weights
  bool border_;         // there is no padded copy: tiles at the border are apart

 private:
  // The result into a buffer in blocks of the tile's lanes, which a last stage copies.
  void ComputeApart() {
    if (conv_.view.anchor_is_output) {
      out_ = anchor_;
      anchor_ = s_.CacheWrite(out_);
    } else {
      out_ = s_.CacheWrite(out_);
    }
    conv_.view.output = out_;
  }

  void SetLayouts() {
    SetSignatureLayouts(&s_, task_);
    if (conv_.copies_result) s_.SetLayout(out_, BlockedData(conv_.lanes));
    PackWeight();
    const int64_t channels = ChannelBlock(conv_);
    if (copies_ && channels > 1) s_.SetLayout(conv_.data, BlockedData(channels));
    if (conv_.packs_data) packed_data_ = s_.Pack(conv_.data, BlockedData(channels));
    if (conv_.Dots()) s_.SumPadLanes(anchor_ + ".r0", conv_.dot);
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
    packed_ = conv_.weight_pad;
    s_.SetLayout(packed_, layout);
    if (conv_.weight_is_constant) s_.Prepare(packed_);
  }

  // The anchor's spatial axes, outermost first, each with `suffix`.
  std::vector<std::string> AnchorAxes(const std::string& suffix = "") const {
    std::vector<std::string> axes;
    for (int d = conv_.spatial; d > 0; --d) axes.push_back(conv_.Axis(anchor_, d) + suffix);
    return axes;
  }
  Layout BlockedData(int64_t channels) const { return BlockedChannels(conv_.rank(), channels); }

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
    steps = WithTile(std::move(steps));
    if (conv_.LanesDiffer()) {  // what is loaded of the data serves all channels
      std::erase(steps, ic);
      steps.push_back(ic);
    }
    for (const char* name : {".ocv", ".lane", ".dot"}) steps.push_back(anchor_ + name);
    s_.ReorderPresent(steps, /*allow_reassociation=*/true);
    step_ = inner;
    steps_ = std::move(steps);
  }

  // Tails get bodies of their own, of constant sizes; what is left of the tile is unrolled.
  void Specialise() {
    s_.Simplify();
    const int64_t channels = conv_.StepsOfChannels() * conv_.dot;
    if (s_.Has(anchor_ + ".icb") && channels % conv_.lanes != 0) {
      s_.PeelAll(anchor_ + ".icb", 0, 1);
    }
    PeelTiles();
    const bool pads_lanes = conv_.out % conv_.lanes != 0;
    if (conv_.out_vectors % tile_.vectors != 0 || pads_lanes) s_.PeelAll(out_ + ".oc", 0, 1);
    for (const char* name : {".row", ".col", ".ocv"}) s_.UnrollAll(out_ + name);
    for (const char* name : {".ocv", ".unroll"}) s_.UnrollAll(anchor_ + name);
    UnrollTile();
    if (conv_.LanesDiffer()) s_.UnrollAll(anchor_ + ".r0");
  }

  // The taps along an axis are unrolled in the tiles that leave the data, or in the only one.
  void PeelBorder(const std::string& tiles, const Border& border, const std::string& taps,
                  bool only_one) {
    s_.PeelAll(tiles, border.first, border.last);
    for (const std::string& copy : LoopCopies(s_.nest(), taps)) {
      if (only_one || copy != taps) s_.UnrollAll(copy);
    }
  }

  bool slices_;                     // those of padding are left out
  bool copies_;                     // the padded copy is a launch of its own
  std::string step_;                // the innermost loop of the sum that is not unrolled
  std::vector<std::string> steps_;  // all of them, and the tile
  std::string packed_data_;
};

// The tiles of a block of rows take turns, each for a chunk of the input channels: their sums lie
// in memory, and are in registers for a chunk. There are no groups then.
//   for n, oc, od, ohb (the grid) { for chunk, th, tw { steps of the tile }; for oh, ow { .. } }
class ChunkedConv : public DirectSchedule {
 public:
  using DirectSchedule::DirectSchedule;

 private:
  std::vector<std::string> Grid() const override {
    return ConvGrid(conv_, config_.String("order"), "ohb");
  }

  void OrderOutput() override {
    s_.Split(out_ + ".oh", BlockRows(), Tail::kClip, out_ + ".ohb", out_ + ".oh");
    std::vector<std::string> outer = Grid();
    outer.push_back(out_ + ".oh");
    OrderConvOutput(&s_, conv_, outer);
  }

  void ComputeSums() override {
    SumTiles(Grid().back(), loop::Scope::kLocal);
    chunk_sums_ = s_.SumLocally(s_.LastOf({anchor_ + ".th", anchor_ + ".tw"}));
    s_.VectorizeAll(anchor_ + ".lane_init");
    for (const char* name : {".lane", ".lane_init"}) s_.VectorizeAll(chunk_sums_ + name);
    if (PrefetchesColumns()) {
      std::vector<std::string> loops = Grid();
      for (const char* name : {".chunk", ".th", ".tw"}) loops.push_back(anchor_ + name);
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
    next.ahead.push_back(anchor_ + ".chunk");
    next.turns = {anchor_ + ".th", anchor_ + ".tw", chunk_sums_ + ".icb"};
    next.line_axis = conv_.transposed ? 1 : 0;
    for (int d = border_ ? 1 : conv_.spatial; d > 0; --d) {
      next.turns.push_back(conv_.Tap(chunk_sums_, d));
    }
    s_.PrefetchRegion(packed_, next);
  }

  std::vector<std::string> WithTile(std::vector<std::string> steps) override {
    s_.SplitIfPresent(conv_.Axis(anchor_, 2), tile_.rows, Tail::kClip, anchor_ + ".th",
                      anchor_ + ".row");
    s_.SplitIfPresent(conv_.Axis(anchor_, 1), tile_.columns, Tail::kClip, anchor_ + ".tw",
                      anchor_ + ".col");
    s_.Split(anchor_ + ".icb", config_.Int("chunk"), Tail::kExact, anchor_ + ".chunk",
             anchor_ + ".icb");
    steps.insert(steps.begin(), {anchor_ + ".chunk", anchor_ + ".th", anchor_ + ".tw"});
    for (const char* name : {".row", ".col"}) steps.push_back(anchor_ + name);
    // Tap 1 first, which every tile takes: PrefetchNextChunk and StepsOfTap rely on it.
    if (border_) {
      const auto taps = std::ranges::find(steps, conv_.Tap(anchor_, conv_.spatial));
      std::rotate(taps, taps + conv_.spatial - 1, taps + conv_.spatial);
    }
    return steps;
  }

  // Inside Tap 1, as WithTile orders them: below the prefetches, which have their last turn there.
  std::vector<std::string> StepsOfTap() const {
    std::vector<std::string> steps;
    for (int d = conv_.spatial; d > 1; --d) steps.push_back(conv_.Tap(chunk_sums_, d));
    for (const char* name : {".ic", ".unroll", ".row", ".col", ".ocv", ".lane"}) {
      steps.push_back(chunk_sums_ + name);
    }
    return steps;
  }

  // The last block of rows, and the last rows and columns of tiles of a block, or those at the
  // border: one row is no loop any more, so that bounds of the taps can say what is outside.
  void PeelTiles() override {
    if (border_) {
      LeaveOutPadding(chunk_sums_, StepsOfTap());
      PeelBorder(anchor_ + ".th", anchor_ + ".tw", chunk_sums_);
    }
    if (HasShortColumn()) s_.PeelAll(out_ + ".ow", 0, 1);
    const int64_t rows = CeilDiv(conv_.height, tile_.rows);
    if (HasShortRow() || rows % BlockRows() != 0) s_.PeelAll(out_ + ".ohb", 0, 1);
    if (HasShortRow()) s_.PeelAll(out_ + ".oh", 0, 1);
    if (border_) return;
    if (HasShortRow()) s_.PeelAll(anchor_ + ".th", 0, 1);
    if (HasShortColumn()) s_.PeelAll(anchor_ + ".tw", 0, 1);
  }

  void UnrollTile() override {
    for (const char* name : {".row", ".col"}) s_.UnrollAll(anchor_ + name);
    for (const char* name : {".row", ".col", ".ocv", ".unroll"}) s_.UnrollAll(chunk_sums_ + name);
  }

  int64_t BlockRows() const { return config_.Int("block_h"); }

  std::string chunk_sums_;  // in registers
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
