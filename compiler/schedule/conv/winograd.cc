#include "compiler/schedule/conv/winograd.h"

#include <algorithm>
#include <optional>

#include "compiler/schedule/conv/loops.h"
#include "compiler/schedule/conv/winograd_space.h"
#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "compiler/schedule/primitives/winograd.h"
#include "compiler/schedule/rewrite/fuse_stages.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "fmt/format.h"

namespace hone::schedule {
namespace {

// Positions lie a plane apart, and the transforms touch all of them at once: planes of a power of
// two of bytes get a vector's channels more.
std::vector<int64_t> SlackOf(const Conv& conv, int64_t channels, int64_t tiles) {
  constexpr int64_t kSetBytes = 1024;
  const int64_t plane_bytes = CeilDiv(channels, conv.lanes) * conv.lanes * tiles * 4;
  if (plane_bytes % kSetBytes != 0) return {};
  std::vector<int64_t> slack(static_cast<size_t>(conv.rank()) + 1, 0);
  slack[2] = 1;
  return slack;
}

class WinogradSchedule {
 public:
  WinogradSchedule(const Task& task, const Conv& conv, int64_t tile, const Config& config)
      : task_(task),
        dilation_(DilationOf(conv)),
        conv_(WithoutDilation(conv)),
        config_(config),
        plan_(PlanOf(conv_, tile)),
        tile_(TileOf(config)),
        s_(task.def->naive),
        out_(Stage(conv.view.output)),
        copies_(conv_.copies_data && config.String("pad") == "copy"),
        chunk_(config.Int("chunk")),
        in_registers_(chunk_ > 0 && config.String("filters") == kFiltersInRegisters) {}

  absl::StatusOr<loop::Nest> Run() && {
    conv_result_ = ConvLoops(FuseAroundAnchor(&s_, conv_.view, dilation_ ? "" : conv_.data));
    if (dilation_) SplitDilation();
    if (SkipsSlices()) s_.InlinePadding(Stage(conv_.data), 2);
    stages_ =
        s_.Winograd(conv_result_, std::max(plan_.tile_h, plan_.tile_w),
                    conv_.blocked_data ? PhaseOrder::kOutside : PhaseOrder::kInside, HowFilters());
    filter_ = WinogradLoops(stages_.filter);
    data_ = WinogradLoops(stages_.data);
    product_ = WinogradLoops(stages_.product);
    if (conv_.copies_data && !copies_) s_.Inline(Stage(conv_.data));
    SetSignatureLayouts(&s_, task_);
    if (dilation_) s_.SetLayout(out_.buffer(), BlockedChannels(conv_.rank(), conv_.lanes));
    if (copies_ && conv_.blocked_data) {
      s_.SetLayout(conv_.data, BlockedChannels(conv_.rank(), conv_.lanes));
    }
    const bool packs_weight = chunk_ > 0 && stages_.filter_taps.empty();
    if (dilation_ && !packs_weight) s_.Inline(weight_of_phases_);
    if (chunk_ == 0) {
      PrepareFilter();
    } else {
      PackTaps();
    }
    PadChannels();
    TileOutput();
    ComputeResult();
    ComputeProduct();
    if (chunk_ > 0) ComputeFilter();
    ComputeData();
    PrefetchPanels();
    if (copies_) ScheduleDataStage(&s_, Stage(conv_.data), conv_.lanes);
    if (dilation_) ScheduleDataStage(&s_, Stage(conv_.view.output), conv_.lanes);
    Specialise();
    return std::move(s_).Finish();
  }

 private:
  // Into the phases of the dilation, which the stage of the output puts in order again.
  void SplitDilation() {
    const DilationStages phases = s_.SplitDilation(conv_result_, dilation_->h, dilation_->w);
    s_.Inline(conv_result_);
    conv_.data = phases.data.buffer();
    weight_of_phases_ = phases.weight;
    out_ = WinogradLoops(phases.result);
    conv_result_ = ConvLoops(s_.CacheWrite(out_));
  }

  // Whether a block, the last one included, is no whole number of register tiles.
  static bool HasTail(int64_t extent, int64_t block, int64_t tile) {
    return block % tile != 0 || extent % block % tile != 0;
  }

  FilterTransform HowFilters() const {
    if (chunk_ == 0) return FilterTransform::kBeforehand;
    return in_registers_ ? FilterTransform::kAtEveryRunByRows : FilterTransform::kAtEveryRun;
  }
  int64_t BlockTiles() const { return config_.Int("block_h") * config_.Int("block_w"); }
  bool Deep() const { return conv_.spatial == 3; }
  // Slices outside the data are never made. (Of taps further apart, no bounds are found for those
  // that are.)
  bool SkipsSlices() const { return conv_.PadsSlices() && conv_.window.dilation[0] == 1; }
  // The loop of an axis of a stage, of `extra` axes more than the convolution, counted from the
  // last.
  Loop Axis(const Stage& stage, int extra, int from_end) const {
    return stage.Axis(static_cast<size_t>(conv_.rank() + extra + from_end));
  }
  // The layout, blocked along `axis`, of a stage of `extra` axes more than the convolution.
  Layout BlockedAlong(int extra, int axis, int64_t lanes) const {
    return BlockedLayout(conv_.rank() + extra, axis, lanes);
  }
  // Alignments of the channels, and of other axes counted from the last.
  std::vector<int64_t> Aligned(int extra, int axis,
                               std::initializer_list<int64_t> last = {}) const {
    std::vector<int64_t> align(static_cast<size_t>(conv_.rank() + extra), 1);
    align[static_cast<size_t>(axis)] = conv_.lanes;
    std::copy(last.begin(), last.end(), align.end() - static_cast<ptrdiff_t>(last.size()));
    return align;
  }

  int64_t GroupLanes() const { return tile_.vectors * conv_.lanes; }
  // The layout of the transformed filters: groups of output channels outermost, each position by
  // position, in the order of the sums.
  std::string FilterLayout() const {
    return Deep() ? fmt::format("CNWH{}c", GroupLanes()) : fmt::format("CNW{}c", GroupLanes());
  }

  // The loops of the stage of the transformed filters: (group, vector), channel, tap of the depth,
  // position.
  void OrderFilter() {
    const WinogradLoops& f = filter_;
    s_.Split(f.Axis(1), conv_.lanes, Tail::kExact, f.ChannelVectors(), f.Lane());
    if (plan_.InColumns()) {
      s_.Split(f.Axis(0), plan_.products_w, Tail::kExact, f.ProductRows(), f.ProductColumns());
    }
    s_.ReorderPresent({f.ChannelVectors(), f.Axis(2), f.Axis(3), f.Axis(0), f.ProductRows(),
                       f.ProductColumns(), f.Lane()});
    s_.Vectorize(f.Lane());
    s_.Unroll(plan_.InColumns() ? f.ProductColumns() : f.Axis(0));
  }

  // The filters as the groups read them, to be transformed at every run.
  void PackTaps() {
    const std::string layout =
        Deep() ? fmt::format("NDCHW{}n", GroupLanes()) : fmt::format("NCHW{}n", GroupLanes());
    const Layout blocks = *Layout::Parse(layout, conv_.rank());
    packed_ = stages_.filter_taps.empty() ? weight_of_phases_ : stages_.filter_taps;
    if (packed_.empty()) {
      packed_ = s_.Pack(conv_.weight, blocks);
      return;
    }
    s_.Prepare(packed_);
    s_.SetLayout(packed_.buffer(), blocks);
  }

  // The transformed filters of a group of output channels, a chunk of the input's and a tap of the
  // depth: the row of positions that is multiplied next, or that row of each channel when its turn
  // comes.
  void ComputeFilter() {
    const WinogradLoops& f = filter_;
    const WinogradLoops& p = product_;
    const Stage& columns = stages_.filter_columns;
    ComputeAtOptions options;
    if (!in_registers_) options.scope = loop::Scope::kLocal;
    options.align.assign(static_cast<size_t>(conv_.rank()) - 1, 1);
    options.align[1] = conv_.lanes;
    options.layout = FilterLayout();
    s_.ComputeAt(f, in_registers_ ? LastStep() : p.ProductRows(), options);
    OrderFilter();
    s_.ReorderPresent({f.Axis(2), f.ChannelVectors()});
    options = {};
    options.align = Aligned(0, 0);
    options.layout = BlockedAlong(0, 0, conv_.lanes).ToString();
    s_.ComputeAt(columns, in_registers_ ? LastStep() : s_.LastOf({f.Axis(2), f.ChannelVectors()}),
                 options);
    if (in_registers_) s_.UnrollAll(f.ChannelVectors());
    s_.UnrollAll(Axis(columns, 0, -1));
    s_.VectorizeAll(columns.Axis(0));
    if (config_.Int("prefetch") == 0) return;
    PrefetchRegionOptions ahead;
    ahead.ahead = {out_.ChannelBlocks(), p.Reduction(1), p.Chunks()};
    if (in_registers_) {
      ahead.turns = {p.ProductRows(), sum_.InputBlocks(), sum_.InputChannels()};
    } else {
      ahead.turns = {p.ProductRows(), p.ProductColumns()};
      if (!SkipsSlices()) {  // of the depth's loop, where it leaves some out, turns would be
                             // missing
        ahead.turns.insert(ahead.turns.end(), {p.Axis(3), p.TurnRows(), p.TurnColumns()});
      }
    }
    s_.PrefetchRegion(packed_.buffer(), ahead);
  }

  void PrepareFilter() {
    const WinogradLoops& f = filter_;
    const Stage& columns = stages_.filter_columns;
    const Stage& filter_taps = stages_.filter_taps;
    for (const Stage& stage : {filter_taps, columns}) {
      if (stage.empty()) continue;
      s_.Prepare(stage);
      s_.SetLayout(stage.buffer(), BlockedAlong(0, 0, GroupLanes()));
    }
    s_.Prepare(f);
    s_.SetLayout(f.buffer(), *Layout::Parse(FilterLayout(), conv_.rank() - 1));
    OrderFilter();
    const Loop taps = Deep() ? f.Axis(3) : f.Axis(2);  // of one input channel
    s_.Parallel(f.ChannelVectors());
    s_.Parallel(f.Axis(2));
    // The filters of the lanes lie apart: they are gathered once, lane by lane.
    ComputeAtOptions options;
    options.align = Aligned(0, 0);
    options.layout = BlockedAlong(0, 0, conv_.lanes).ToString();
    if (!columns.empty()) {
      s_.ComputeAt(columns, taps, options);
      s_.UnrollAll(Axis(columns, 0, -2));
    }
    if (filter_taps.empty()) return;
    s_.ComputeAt(filter_taps, taps, options);
    // The order in which the taps lie, where they are read in place.
    for (const Stage& stage : {filter_taps, columns}) {
      if (stage.empty()) continue;
      s_.ReorderPresent({Axis(stage, 0, -1), Axis(stage, 0, -2), stage.Axis(0)});
      s_.VectorizeAll(stage.Axis(0));
    }
  }

  // Whole vectors are computed: where the channels do not fill the last, zeros do.
  void PadChannels() {
    if (chunk_ == 0) sum_ = WinogradLoops(s_.CacheWrite(product_));
    const int64_t lanes = conv_.lanes;
    const bool in_columns = plan_.InColumns();
    if (conv_.out % lanes != 0) {
      s_.SetLayout(product_.buffer(), BlockedAlong(1, 2, lanes));
      if (in_columns) s_.SetLayout(stages_.result_columns.buffer(), BlockedAlong(1, 1, lanes));
    }
    if (plan_.channels % lanes == 0) return;
    if (in_columns) {
      s_.SetLayout(stages_.data_columns.buffer(), BlockedAlong(1, 1, lanes));
    } else {
      s_.SetLayout(data_.buffer(), BlockedAlong(1, 2, lanes));
    }
  }

  // for n, blocks of tiles, parts (the grid) { for groups of channels { for tiles { .. } } }
  void TileOutput() {
    s_.Split(out_.Axis(1), conv_.lanes, Tail::kGuard, out_.Vectors(), out_.Lane());
    s_.Split(out_.Vectors(), tile_.vectors, Tail::kClip, out_.ChannelBlocks(),
             out_.ChannelVectors());
    s_.Split(Axis(out_, 0, -2), plan_.tile_h, Tail::kGuard, out_.TilesDown(), out_.Row());
    s_.Split(Axis(out_, 0, -1), plan_.tile_w, Tail::kGuard, out_.TilesAcross(), out_.Column());
    s_.Split(out_.TilesDown(), config_.Int("block_h"), Tail::kClip, out_.BlocksDown(),
             out_.TurnRows());
    s_.Split(out_.TilesAcross(), config_.Int("block_w"), Tail::kClip, out_.BlocksAcross(),
             out_.TurnColumns());
    std::vector<Loop> order = {out_.Axis(0), out_.BlocksDown(), out_.BlocksAcross()};
    if (Deep()) {
      s_.Split(out_.Axis(2), config_.Int("block_d"), Tail::kClip, out_.SliceBlocks(), out_.Slice());
      order.insert(order.begin() + 1, out_.SliceBlocks());
    }
    const int64_t parts = config_.Int("parts");
    block_ = out_.BlocksAcross();
    if (parts > 1) {
      const int64_t groups = conv_.out_vectors / tile_.vectors;
      block_ = out_.Parts();
      s_.Split(out_.ChannelBlocks(), groups / parts, Tail::kExact, block_, out_.ChannelBlocks());
      order.push_back(block_);
    }
    const std::vector<Loop> grid = order;
    order.insert(order.end(),
                 {out_.ChannelBlocks(), out_.Slice(), out_.TurnRows(), out_.TurnColumns(),
                  out_.ChannelVectors(), out_.Row(), out_.Column(), out_.Lane()});
    s_.ReorderPresent(order);
    s_.Vectorize(out_.Lane());
    for (const Loop& loop : grid) s_.Parallel(loop);
  }

  // The results of one tile, in two steps, the second row by row; of filters of one axis in one.
  void ComputeResult() {
    ComputeAtOptions options;
    options.align = Aligned(0, 1, {plan_.InColumns() ? 1 : plan_.tile_h, plan_.tile_w});
    options.layout = BlockedAlong(0, 1, conv_.lanes).ToString();
    s_.ComputeAt(conv_result_, plan_.InColumns() ? out_.Row() : out_.ChannelVectors(), options);
    s_.ReorderPresent({Axis(conv_result_, 0, -2), Axis(conv_result_, 0, -1), conv_result_.Axis(1)});
    if (!plan_.InColumns()) return;
    const Stage& columns = stages_.result_columns;
    options.align = Aligned(1, 1, {plan_.tile_h, 1, 1});
    options.layout = BlockedAlong(1, 1, conv_.lanes).ToString();
    s_.ComputeAt(columns, out_.ChannelVectors(), options);
    s_.ReorderPresent({Axis(columns, 1, -1), Axis(columns, 1, -3), columns.Axis(1)});
  }

  // The products of a group of output channels and a block of tiles.
  void ComputeProduct() {
    const WinogradLoops& p = product_;
    ComputeAtOptions options;
    options.scope = loop::Scope::kLocal;
    options.align = Aligned(1, 2);
    options.layout = BlockedAlong(1, 2, conv_.lanes).ToString();
    options.slack = SlackOf(conv_, GroupLanes(), BlockTiles() * BlockDepth());
    s_.ComputeAt(p, out_.ChannelBlocks(), options);
    if (chunk_ > 0) ClearProduct();
    s_.Split(p.Axis(2), conv_.lanes, Tail::kExact, p.ChannelVectors(), p.Lane());
    s_.SplitIfPresent(Axis(p, 1, -2), tile_.rows, Tail::kClip, p.TurnRows(), p.Row());
    s_.SplitIfPresent(Axis(p, 1, -1), tile_.columns, Tail::kClip, p.TurnColumns(), p.Column());
    if (chunk_ > 0) {
      SumChunks();
    } else {
      SumChannels();
    }
    s_.VectorizeAll(p.Lane());
  }

  // The loops of the products that a register tile is computed in, outermost first.
  std::vector<Loop> TilesOfProduct() const {
    const WinogradLoops& p = product_;
    std::vector<Loop> loops = {chunk_ > 0 ? p.ProductColumns() : p.Axis(0)};
    if (Deep()) loops.push_back(p.Axis(3));
    loops.push_back(p.TurnRows());
    loops.push_back(p.TurnColumns());
    return loops;
  }

  // The filters of a chunk of input channels serve all tiles before the next are transformed.
  void ClearProduct() {
    const WinogradLoops& p = product_;
    s_.Decompose(p.Axis(0));
    s_.Split(p.Axis(2).Init(), conv_.lanes, Tail::kExact, p.ChannelVectors().Init(),
             p.Lane().Init());
    s_.ReorderPresent({p.Axis(0).Init(), p.ChannelVectors().Init(), p.Axis(3).Init(),
                       p.Axis(4).Init(), p.Axis(5).Init(), p.Lane().Init()});
    s_.Vectorize(p.Lane().Init());
  }

  void SumChunks() {
    const WinogradLoops& p = product_;
    s_.Split(p.Reduction(0), chunk_, Tail::kExact, p.Chunks(), p.Reduction(0));
    s_.Split(p.Axis(0), plan_.products_w, Tail::kExact, p.ProductRows(), p.ProductColumns());
    std::vector<Loop> order = {p.Reduction(1), p.Chunks(), p.ProductRows()};
    const std::vector<Loop> tiles = TilesOfProduct();
    const std::vector<Loop> steps = SplitSteps(p);
    order.insert(order.end(), tiles.begin(), tiles.end());
    // A row of positions is summed at once where its filters are in registers.
    order.insert(in_registers_ ? order.end() - static_cast<ptrdiff_t>(tiles.size()) : order.end(),
                 steps.begin(), steps.end());
    order.insert(order.end(), {p.Row(), p.Column(), p.ChannelVectors(), p.Lane()});
    s_.ReorderPresent(order, /*allow_reassociation=*/true);
    if (SkipsSlices()) s_.LeaveOutPadding(order, p.Lane(), {p.Axis(3), p.Reduction(1)});
    sum_ = WinogradLoops(s_.SumLocally(in_registers_ ? p.ProductRows() : s_.LastOf(tiles)));
    s_.VectorizeAll(sum_.Lane());
    s_.VectorizeAll(sum_.Lane().Init());
  }

  void SumChannels() {
    const WinogradLoops& p = product_;
    const WinogradLoops& sum = sum_;
    const std::vector<Loop> tiles = TilesOfProduct();
    std::vector<Loop> order = tiles;
    order.insert(order.end(), {p.Row(), p.Column(), p.ChannelVectors(), p.Lane()});
    s_.ReorderPresent(order);
    const Loop at = s_.LastOf(tiles);
    ComputeAtOptions options;
    options.align = Aligned(1, 2);
    options.layout = BlockedAlong(1, 2, conv_.lanes).ToString();
    s_.ComputeAt(sum, at, options);
    s_.Decompose(sum.Axis(2));
    for (const WinogradLoops& part : {sum.Init(), sum}) {
      s_.Split(part.Axis(2), conv_.lanes, Tail::kExact, part.ChannelVectors(), part.Lane());
    }
    s_.ReorderPresent({Axis(sum, 1, -2).Init(), Axis(sum, 1, -1).Init(),
                       sum.ChannelVectors().Init(), sum.Lane().Init()});
    const bool one_column = config_.Int("block_w") <= tile_.columns;
    Loop turn = at;
    if (one_column) turn = s_.LastOf({p.Axis(0), p.Axis(3), p.TurnRows()});
    OrderSteps(sum, turn);
    s_.VectorizeAll(sum.Lane());
  }

  Loop LastStep() const {
    return s_.LastOf({sum_.InputBlocks(), sum_.InputChannels(), sum_.Unrolled()});
  }

  // The loops of the sum over the channels, outermost first.
  std::vector<Loop> SplitSteps(const WinogradLoops& sum) {
    s_.Split(sum.Reduction(0), conv_.lanes, Tail::kClip, sum.InputBlocks(), sum.InputChannels());
    std::vector<Loop> steps = {sum.InputBlocks(), sum.InputChannels()};
    const int64_t unroll = config_.Int("unroll");
    if (unroll > 1) {
      s_.Split(sum.InputChannels(), unroll, Tail::kExact, sum.InputChannels(), sum.Unrolled());
      steps.push_back(sum.Unrolled());
    }
    return steps;
  }

  void OrderSteps(const WinogradLoops& sum, const Loop& turn) {
    if (plan_.SkipsZeros()) {
      s_.Split(sum.Reduction(0), conv_.in, Tail::kExact, sum.Phases(), sum.Reduction(0));
    }
    std::vector<Loop> steps = SplitSteps(sum);
    for (int d : {-2, -1}) steps.push_back(Axis(sum, 1, d));
    steps.insert(steps.end(), {sum.ChannelVectors(), sum.Lane()});
    steps.insert(steps.begin(), {sum.Reduction(1), sum.Phases()});
    s_.ReorderPresent(steps, /*allow_reassociation=*/true);
    if (SkipsSlices() || plan_.SkipsZeros()) {
      s_.LeaveOutPadding(steps, sum.Lane(), {sum.Reduction(1)});
    }
    if (config_.Int("prefetch") == 0) return;
    // One line of the next position's filters a step; the register tiles take turns.
    PrefetchOptions options;
    options.ahead = product_.Axis(0);
    options.inner = sum.ChannelVectors();
    options.turn = turn;
    s_.Prefetch(s_.LastOf({sum.Phases(), sum.InputBlocks(), sum.InputChannels(), sum.Unrolled()}),
                filter_.buffer(), options);
  }

  // The data of the next channels, or of the next register tile's first, comes into the first
  // cache: all columns of the tile read a line of it in the same step, more than a core waits for
  // at once.
  void PrefetchPanels() {
    if (config_.Int("prefetch") < 2) return;
    PrefetchRegionOptions next;
    next.ahead = TilesOfProduct();
    next.ahead.insert(next.ahead.end(), {sum_.Reduction(1), sum_.Phases(), sum_.InputBlocks()});
    next.turns = {sum_.InputChannels()};
    next.line_axis = 2;
    next.locality = 3;
    s_.PrefetchRegion(data_.buffer(), next);
  }

  // The transformed data of a block: one vector of channels after the other, rows of tiles.
  void ComputeData() {
    const WinogradLoops& d = data_;
    ComputeAtOptions options;
    options.scope = loop::Scope::kLocal;
    options.align = Aligned(1, 2);
    options.layout = BlockedAlong(1, 2, conv_.lanes).ToString();
    options.slack =
        SlackOf(conv_, plan_.channels, BlockTiles() * plan_.Slices(conv_, BlockDepth()));
    s_.ComputeAt(d, block_, options);
    options.slack.clear();
    s_.Split(d.Axis(2), conv_.lanes, Tail::kExact, d.DataVectors(), d.Lane());
    std::vector<Loop> order = {d.DataVectors()};
    if (plan_.phases > 1 && conv_.blocked_data) {  // a block is of one phase
      s_.Split(d.DataVectors(), conv_.in / conv_.lanes, Tail::kExact, d.Phases(), d.DataVectors());
      order.insert(order.begin(), d.Phases());
    }
    if (plan_.InColumns()) {
      s_.Split(d.Axis(0), plan_.products_w, Tail::kExact, d.ProductRows(), d.ProductColumns());
    }
    const Loop y = Axis(d, 1, -2);
    const Loop slice = d.Axis(3);
    if (Deep()) order.push_back(slice);
    order.insert(order.end(), {y, Axis(d, 1, -1)});
    order.insert(order.end(), {d.Axis(0), d.ProductRows(), d.ProductColumns(), d.Lane()});
    s_.ReorderPresent(order);
    if (!plan_.InColumns()) return;
    const Stage& columns = stages_.data_columns;
    options.align = Aligned(1, 1);
    options.layout = BlockedAlong(1, 1, conv_.lanes).ToString();
    Loop at = d.DataVectors();
    if (Deep() && s_.Has(slice)) at = slice;
    s_.ComputeAt(columns, s_.Has(y) ? y : at, options);
    s_.ReorderPresent({Axis(columns, 1, -1), Axis(columns, 1, -2), columns.Axis(1)});
  }

  // All steps of a phase at once; there may be a condition for each of the two axes.
  void SkipPhases() {
    std::vector<Loop> steps = {sum_.InputBlocks(), sum_.InputChannels(), sum_.Unrolled()};
    for (int d : {-2, -1}) steps.push_back(Axis(sum_, 1, d));
    steps.push_back(sum_.ChannelVectors());
    steps.push_back(sum_.Lane());
    for (int axes = 0; axes < 2; ++axes) s_.Unswitch(s_.FirstOf(steps));
  }

  int64_t BlockDepth() const { return Deep() ? config_.Int("block_d") : 1; }

  // Tails get bodies of their own, of constant sizes.
  void Specialise() {
    s_.Simplify();
    if (plan_.SkipsZeros()) SkipPhases();
    const WinogradLoops& p = product_;
    const int64_t block_h = config_.Int("block_h");
    const int64_t block_w = config_.Int("block_w");
    if (plan_.columns % block_w != 0) s_.PeelAll(out_.BlocksAcross(), 0, 1);
    if (plan_.rows % block_h != 0) s_.PeelAll(out_.BlocksDown(), 0, 1);
    if (conv_.depth % BlockDepth() != 0) s_.PeelAll(out_.SliceBlocks(), 0, 1);
    const bool pads_lanes = conv_.out % conv_.lanes != 0;
    if (conv_.out_vectors % tile_.vectors != 0 || pads_lanes)
      s_.PeelAll(out_.ChannelBlocks(), 0, 1);
    if (HasTail(plan_.columns, block_w, tile_.columns)) s_.PeelAll(p.TurnColumns(), 0, 1);
    if (HasTail(plan_.rows, block_h, tile_.rows)) s_.PeelAll(p.TurnRows(), 0, 1);
    if (s_.Has(sum_.InputBlocks()) && plan_.channels % conv_.lanes != 0)
      s_.PeelAll(sum_.InputBlocks(), 0, 1);
    if (!conv_.blocked_data && plan_.channels % conv_.lanes != 0) {  // lanes at known places
      s_.PeelAll(data_.DataVectors(), 0, 1);
    }
    // One of a tile's two directions is unrolled: code of both takes LLVM several times as long,
    // and runs no faster.
    const bool in_columns = plan_.InColumns();
    s_.UnrollAll(plan_.UnrollsColumns() ? out_.Column() : out_.Row());
    if (in_registers_) {
      s_.UnrollAll(p.ProductRows());
      for (const WinogradLoops& stage : {p, sum_}) s_.UnrollAll(stage.ProductColumns());
    }
    for (const Loop& loop : {p.Row(), p.Column()}) s_.UnrollAll(loop);
    s_.UnrollAll(p.ChannelVectors());
    for (int d : {-2, -1}) s_.UnrollAll(Axis(sum_, 1, d));
    s_.UnrollPresent({sum_.Row(), sum_.Column(), sum_.ChannelVectors(), sum_.Unrolled()});
    s_.UnrollAll(Axis(conv_result_, 0, plan_.UnrollsColumns() ? -1 : -2));
    s_.UnrollAll(in_columns ? data_.ProductColumns() : data_.Axis(0));
    if (in_columns) {
      s_.UnrollAll(Axis(stages_.result_columns, 1, -3));
      s_.UnrollAll(Axis(stages_.data_columns, 1, -2));
      s_.VectorizeAll(stages_.result_columns.Axis(1));
      s_.VectorizeAll(stages_.data_columns.Axis(1));
    }
    s_.VectorizeAll(conv_result_.Axis(1));
    s_.VectorizeAll(data_.Lane());
  }

  const Task& task_;
  const std::optional<Dilation> dilation_;  // that is split into phases
  Conv conv_;                               // without it
  const Config& config_;
  const WinogradPlan plan_;
  const RegisterTile tile_;
  Sequence s_;
  WinogradLoops out_;
  bool copies_;             // the padded copy is a launch of its own
  int64_t chunk_;           // channels whose filters are transformed at a time; 0: beforehand
  bool in_registers_;       // filters are transformed there, for each row of positions
  Stage weight_of_phases_;  // empty: there is no dilation
  Stage packed_;            // the filters as they are read then
  Loop block_;              // the innermost loop of the grid
  ConvLoops conv_result_;   // what the convolution alone gives
  WinogradLoops sum_;       // the accumulators
  WinogradStages stages_;
  WinogradLoops filter_, data_, product_;  // of these
};

class WinogradPlanOf final : public Plan {
 public:
  WinogradPlanOf(int64_t tile, const std::shared_ptr<const Problem<Conv>>& problem)
      : tile_(tile), problem_(problem), undilated_(WithoutDilation(problem->kernel)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    return NextWinogradKnob(undilated_, tile_, prefix);
  }
  std::vector<PricedConfig> Ranked() const override {
    return BestWinogradConfigs(problem_->kernel, tile_);
  }
  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return WinogradSchedule(problem_->task, problem_->kernel, tile_, config).Run();
  }
  std::optional<double> Amplification(const Config& /*config*/) const override {
    return WinogradAmplification(problem_->kernel, tile_);
  }

 private:
  const int64_t tile_;
  const std::shared_ptr<const Problem<Conv>> problem_;
  const Conv undilated_;
};

}  // namespace

std::unique_ptr<const Plan> OpenWinogradOf(int64_t tile,
                                           const std::shared_ptr<const Problem<Conv>>& problem) {
  if (!VectorsFitGroups(problem->kernel) || !HasWinograd(problem->kernel, tile)) return nullptr;
  return std::make_unique<WinogradPlanOf>(tile, problem);
}

}  // namespace hone::schedule
