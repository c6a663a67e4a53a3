#include "compiler/schedule/conv/winograd.h"

#include <algorithm>
#include <optional>

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
        out_(conv.view.output),
        copies_(conv_.copies_data && config.String("pad") == "copy"),
        chunk_(config.Int("chunk")),
        in_registers_(chunk_ > 0 && config.String("filters") == kFiltersInRegisters) {}

  absl::StatusOr<loop::Nest> Run() && {
    conv_result_ = FuseAroundAnchor(&s_, conv_.view, dilation_ ? "" : conv_.data);
    if (dilation_) SplitDilation();
    if (SkipsSlices()) s_.InlinePadding(conv_.data, 2);
    stages_ =
        s_.Winograd(conv_result_, std::max(plan_.tile_h, plan_.tile_w),
                    conv_.blocked_data ? PhaseOrder::kOutside : PhaseOrder::kInside, HowFilters());
    if (conv_.copies_data && !copies_) s_.Inline(conv_.data);
    SetSignatureLayouts(&s_, task_);
    if (dilation_) s_.SetLayout(out_, BlockedChannels(conv_.rank(), conv_.lanes));
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
    if (copies_) ScheduleDataStage(&s_, conv_.data, conv_.lanes);
    if (dilation_) ScheduleDataStage(&s_, conv_.view.output, conv_.lanes);
    Specialise();
    return std::move(s_).Finish();
  }

 private:
  // Into the phases of the dilation, which the stage of the output puts in order again.
  void SplitDilation() {
    const DilationStages phases = s_.SplitDilation(conv_result_, dilation_->h, dilation_->w);
    s_.Inline(conv_result_);
    conv_.data = phases.data;
    weight_of_phases_ = phases.weight;
    out_ = phases.result;
    conv_result_ = s_.CacheWrite(out_);
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
  std::string Axis(const std::string& stage, int extra, int from_end) const {
    return fmt::format("{}.i{}", stage, conv_.rank() + extra + from_end);
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
    const std::string& f = stages_.filter;
    s_.Split(f + ".i1", conv_.lanes, Tail::kExact, f + ".ocv", f + ".lane");
    if (plan_.InColumns()) {
      s_.Split(f + ".i0", plan_.products_w, Tail::kExact, f + ".ph", f + ".pw");
    }
    s_.ReorderPresent(
        {f + ".ocv", f + ".i2", f + ".i3", f + ".i0", f + ".ph", f + ".pw", f + ".lane"});
    s_.Vectorize(f + ".lane");
    s_.Unroll(plan_.InColumns() ? f + ".pw" : f + ".i0");
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
    s_.SetLayout(packed_, blocks);
  }

  // The transformed filters of a group of output channels, a chunk of the input's and a tap of the
  // depth: the row of positions that is multiplied next, or that row of each channel when its turn
  // comes.
  void ComputeFilter() {
    const std::string& f = stages_.filter;
    const std::string& p = stages_.product;
    const std::string& columns = stages_.filter_columns;
    ComputeAtOptions options;
    if (!in_registers_) options.scope = loop::Scope::kLocal;
    options.align.assign(static_cast<size_t>(conv_.rank()) - 1, 1);
    options.align[1] = conv_.lanes;
    options.layout = FilterLayout();
    s_.ComputeAt(f, in_registers_ ? Loop(LastStep()) : p + ".ph", options);
    OrderFilter();
    s_.ReorderPresent({f + ".i2", f + ".ocv"});
    options = {};
    options.align = Aligned(0, 0);
    options.layout = BlockedAlong(0, 0, conv_.lanes).ToString();
    s_.ComputeAt(columns, in_registers_ ? Loop(LastStep()) : s_.LastOf({f + ".i2", f + ".ocv"}),
                 options);
    if (in_registers_) s_.UnrollAll(f + ".ocv");
    s_.UnrollAll(Axis(columns, 0, -1));
    s_.VectorizeAll(columns + ".i0");
    if (config_.Int("prefetch") == 0) return;
    PrefetchRegionOptions ahead;
    ahead.ahead = {out_ + ".oc", p + ".r1", p + ".chunk"};
    if (in_registers_) {
      ahead.turns = {p + ".ph", sum_ + ".icb", sum_ + ".ic"};
    } else {
      ahead.turns = {p + ".ph", p + ".pw"};
      if (!SkipsSlices()) {  // of the depth's loop, where it leaves some out, turns would be
                             // missing
        for (const char* tiles : {".i3", ".th", ".tw"}) ahead.turns.push_back(p + tiles);
      }
    }
    s_.PrefetchRegion(packed_, ahead);
  }

  void PrepareFilter() {
    const std::string& f = stages_.filter;
    const std::string& columns = stages_.filter_columns;
    const std::string& filter_taps = stages_.filter_taps;
    for (const std::string& stage : {filter_taps, columns}) {
      if (stage.empty()) continue;
      s_.Prepare(stage);
      s_.SetLayout(stage, BlockedAlong(0, 0, GroupLanes()));
    }
    s_.Prepare(f);
    s_.SetLayout(f, *Layout::Parse(FilterLayout(), conv_.rank() - 1));
    OrderFilter();
    const std::string taps = Deep() ? f + ".i3" : f + ".i2";  // of one input channel
    s_.Parallel(f + ".ocv");
    s_.Parallel(f + ".i2");
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
    for (const std::string& stage : {filter_taps, columns}) {
      if (stage.empty()) continue;
      s_.ReorderPresent({Axis(stage, 0, -1), Axis(stage, 0, -2), stage + ".i0"});
      s_.VectorizeAll(stage + ".i0");
    }
  }

  // Whole vectors are computed: where the channels do not fill the last, zeros do.
  void PadChannels() {
    if (chunk_ == 0) sum_ = s_.CacheWrite(stages_.product);
    const int64_t lanes = conv_.lanes;
    const bool in_columns = plan_.InColumns();
    if (conv_.out % lanes != 0) {
      s_.SetLayout(stages_.product, BlockedAlong(1, 2, lanes));
      if (in_columns) s_.SetLayout(stages_.result_columns, BlockedAlong(1, 1, lanes));
    }
    if (plan_.channels % lanes == 0) return;
    if (in_columns) {
      s_.SetLayout(stages_.data_columns, BlockedAlong(1, 1, lanes));
    } else {
      s_.SetLayout(stages_.data, BlockedAlong(1, 2, lanes));
    }
  }

  // for n, blocks of tiles, parts (the grid) { for groups of channels { for tiles { .. } } }
  void TileOutput() {
    s_.Split(out_ + ".i1", conv_.lanes, Tail::kGuard, out_ + ".v", out_ + ".lane");
    s_.Split(out_ + ".v", tile_.vectors, Tail::kClip, out_ + ".oc", out_ + ".ocv");
    s_.Split(Axis(out_, 0, -2), plan_.tile_h, Tail::kGuard, out_ + ".tile_h", out_ + ".row");
    s_.Split(Axis(out_, 0, -1), plan_.tile_w, Tail::kGuard, out_ + ".tile_w", out_ + ".col");
    s_.Split(out_ + ".tile_h", config_.Int("block_h"), Tail::kClip, out_ + ".oh", out_ + ".th");
    s_.Split(out_ + ".tile_w", config_.Int("block_w"), Tail::kClip, out_ + ".ow", out_ + ".tw");
    std::vector<std::string> order = {out_ + ".i0", out_ + ".oh", out_ + ".ow"};
    if (Deep()) {
      s_.Split(out_ + ".i2", config_.Int("block_d"), Tail::kClip, out_ + ".od", out_ + ".slice");
      order.insert(order.begin() + 1, out_ + ".od");
    }
    const int64_t parts = config_.Int("parts");
    block_ = out_ + ".ow";
    if (parts > 1) {
      const int64_t groups = conv_.out_vectors / tile_.vectors;
      block_ = out_ + ".part";
      s_.Split(out_ + ".oc", groups / parts, Tail::kExact, block_, out_ + ".oc");
      order.push_back(block_);
    }
    const std::vector<std::string> grid = order;
    for (const char* name : {".oc", ".slice", ".th", ".tw", ".ocv", ".row", ".col", ".lane"}) {
      order.push_back(out_ + name);
    }
    s_.ReorderPresent(order);
    s_.Vectorize(out_ + ".lane");
    for (const std::string& loop : grid) s_.Parallel(loop);
  }

  // The results of one tile, in two steps, the second row by row; of filters of one axis in one.
  void ComputeResult() {
    ComputeAtOptions options;
    options.align = Aligned(0, 1, {plan_.InColumns() ? 1 : plan_.tile_h, plan_.tile_w});
    options.layout = BlockedAlong(0, 1, conv_.lanes).ToString();
    s_.ComputeAt(conv_result_, out_ + (plan_.InColumns() ? ".row" : ".ocv"), options);
    s_.ReorderPresent({Axis(conv_result_, 0, -2), Axis(conv_result_, 0, -1), conv_result_ + ".i1"});
    if (!plan_.InColumns()) return;
    const std::string& columns = stages_.result_columns;
    options.align = Aligned(1, 1, {plan_.tile_h, 1, 1});
    options.layout = BlockedAlong(1, 1, conv_.lanes).ToString();
    s_.ComputeAt(columns, out_ + ".ocv", options);
    s_.ReorderPresent({Axis(columns, 1, -1), Axis(columns, 1, -3), columns + ".i1"});
  }

  // The products of a group of output channels and a block of tiles.
  void ComputeProduct() {
    const std::string& p = stages_.product;
    ComputeAtOptions options;
    options.scope = loop::Scope::kLocal;
    options.align = Aligned(1, 2);
    options.layout = BlockedAlong(1, 2, conv_.lanes).ToString();
    options.slack = SlackOf(conv_, GroupLanes(), BlockTiles() * BlockDepth());
    s_.ComputeAt(p, out_ + ".oc", options);
    if (chunk_ > 0) ClearProduct();
    s_.Split(p + ".i2", conv_.lanes, Tail::kExact, p + ".ocv", p + ".lane");
    s_.SplitIfPresent(Axis(p, 1, -2), tile_.rows, Tail::kClip, p + ".th", p + ".row");
    s_.SplitIfPresent(Axis(p, 1, -1), tile_.columns, Tail::kClip, p + ".tw", p + ".col");
    if (chunk_ > 0) {
      SumChunks();
    } else {
      SumChannels();
    }
    s_.VectorizeAll(p + ".lane");
  }

  // The loops of the products that a register tile is computed in, outermost first.
  std::vector<std::string> TilesOfProduct() const {
    const std::string& p = stages_.product;
    std::vector<std::string> loops = {p + (chunk_ > 0 ? ".pw" : ".i0")};
    if (Deep()) loops.push_back(p + ".i3");
    loops.push_back(p + ".th");
    loops.push_back(p + ".tw");
    return loops;
  }

  // The filters of a chunk of input channels serve all tiles before the next are transformed.
  void ClearProduct() {
    const std::string& p = stages_.product;
    s_.Decompose(p + ".i0");
    s_.Split(p + ".i2_init", conv_.lanes, Tail::kExact, p + ".ocv_init", p + ".lane_init");
    s_.ReorderPresent({p + ".i0_init", p + ".ocv_init", p + ".i3_init", p + ".i4_init",
                       p + ".i5_init", p + ".lane_init"});
    s_.Vectorize(p + ".lane_init");
  }

  void SumChunks() {
    const std::string& p = stages_.product;
    s_.Split(p + ".r0", chunk_, Tail::kExact, p + ".chunk", p + ".r0");
    s_.Split(p + ".i0", plan_.products_w, Tail::kExact, p + ".ph", p + ".pw");
    std::vector<std::string> order = {p + ".r1", p + ".chunk", p + ".ph"};
    const std::vector<std::string> tiles = TilesOfProduct();
    const std::vector<std::string> steps = SplitSteps(p);
    order.insert(order.end(), tiles.begin(), tiles.end());
    // A row of positions is summed at once where its filters are in registers.
    order.insert(in_registers_ ? order.end() - static_cast<ptrdiff_t>(tiles.size()) : order.end(),
                 steps.begin(), steps.end());
    for (const char* name : {".row", ".col", ".ocv", ".lane"}) order.push_back(p + name);
    s_.ReorderPresent(order, /*allow_reassociation=*/true);
    if (SkipsSlices()) s_.LeaveOutPadding(order, p + ".lane", {p + ".i3", p + ".r1"});
    sum_ = s_.SumLocally(in_registers_ ? Loop(p + ".ph") : s_.LastOf(tiles));
    s_.VectorizeAll(sum_ + ".lane");
    s_.VectorizeAll(sum_ + ".lane_init");
  }

  void SumChannels() {
    const std::string& p = stages_.product;
    const std::string& sum = sum_;
    const std::vector<std::string> tiles = TilesOfProduct();
    std::vector<std::string> order = tiles;
    for (const char* name : {".row", ".col", ".ocv", ".lane"}) order.push_back(p + name);
    s_.ReorderPresent(order);
    const std::string at = s_.LastOf(tiles);
    ComputeAtOptions options;
    options.align = Aligned(1, 2);
    options.layout = BlockedAlong(1, 2, conv_.lanes).ToString();
    s_.ComputeAt(sum, at, options);
    s_.Decompose(sum + ".i2");
    for (const std::string& suffix : {std::string("_init"), std::string()}) {
      s_.Split(sum + ".i2" + suffix, conv_.lanes, Tail::kExact, sum + ".ocv" + suffix,
               sum + ".lane" + suffix);
    }
    s_.ReorderPresent({Axis(sum, 1, -2) + "_init", Axis(sum, 1, -1) + "_init", sum + ".ocv_init",
                       sum + ".lane_init"});
    const bool one_column = config_.Int("block_w") <= tile_.columns;
    std::string turn = at;
    if (one_column) turn = s_.LastOf({p + ".i0", p + ".i3", p + ".th"});
    OrderSteps(sum, turn);
    s_.VectorizeAll(sum + ".lane");
  }

  std::string LastStep() const {
    return s_.LastOf({sum_ + ".icb", sum_ + ".ic", sum_ + ".unroll"});
  }

  // The loops of the sum over the channels, outermost first.
  std::vector<std::string> SplitSteps(const std::string& sum) {
    s_.Split(sum + ".r0", conv_.lanes, Tail::kClip, sum + ".icb", sum + ".ic");
    std::vector<std::string> steps = {sum + ".icb", sum + ".ic"};
    const int64_t unroll = config_.Int("unroll");
    if (unroll > 1) {
      s_.Split(sum + ".ic", unroll, Tail::kExact, sum + ".ic", sum + ".unroll");
      steps.push_back(sum + ".unroll");
    }
    return steps;
  }

  void OrderSteps(const std::string& sum, const std::string& turn) {
    if (plan_.SkipsZeros()) {
      s_.Split(sum + ".r0", conv_.in, Tail::kExact, sum + ".phase", sum + ".r0");
    }
    std::vector<std::string> steps = SplitSteps(sum);
    for (int d : {-2, -1}) steps.push_back(Axis(sum, 1, d));
    for (const char* name : {".ocv", ".lane"}) steps.push_back(sum + name);
    steps.insert(steps.begin(), {sum + ".r1", sum + ".phase"});
    s_.ReorderPresent(steps, /*allow_reassociation=*/true);
    if (SkipsSlices() || plan_.SkipsZeros()) {
      s_.LeaveOutPadding(steps, sum + ".lane", {sum + ".r1"});
    }
    if (config_.Int("prefetch") == 0) return;
    // One line of the next position's filters a step; the register tiles take turns.
    PrefetchOptions options;
    options.ahead = stages_.product + ".i0";
    options.inner = sum + ".ocv";
    options.turn = turn;
    s_.Prefetch(s_.LastOf({sum + ".phase", sum + ".icb", sum + ".ic", sum + ".unroll"}),
                stages_.filter, options);
  }

  // The data of the next channels, or of the next register tile's first, comes into the first
  // cache: all columns of the tile read a line of it in the same step, more than a core waits for
  // at once.
  void PrefetchPanels() {
    if (config_.Int("prefetch") < 2) return;
    PrefetchRegionOptions next;
    next.ahead = TilesOfProduct();
    for (const char* name : {".r1", ".phase", ".icb"}) next.ahead.push_back(sum_ + name);
    next.turns = {sum_ + ".ic"};
    next.line_axis = 2;
    next.locality = 3;
    s_.PrefetchRegion(stages_.data, next);
  }

  // The transformed data of a block: one vector of channels after the other, rows of tiles.
  void ComputeData() {
    const std::string& d = stages_.data;
    ComputeAtOptions options;
    options.scope = loop::Scope::kLocal;
    options.align = Aligned(1, 2);
    options.layout = BlockedAlong(1, 2, conv_.lanes).ToString();
    options.slack =
        SlackOf(conv_, plan_.channels, BlockTiles() * plan_.Slices(conv_, BlockDepth()));
    s_.ComputeAt(d, block_, options);
    options.slack.clear();
    s_.Split(d + ".i2", conv_.lanes, Tail::kExact, d + ".cb", d + ".lane");
    std::vector<std::string> order = {d + ".cb"};
    if (plan_.phases > 1 && conv_.blocked_data) {  // a block is of one phase
      s_.Split(d + ".cb", conv_.in / conv_.lanes, Tail::kExact, d + ".phase", d + ".cb");
      order.insert(order.begin(), d + ".phase");
    }
    if (plan_.InColumns()) {
      s_.Split(d + ".i0", plan_.products_w, Tail::kExact, d + ".ph", d + ".pw");
    }
    const std::string y = Axis(d, 1, -2);
    const std::string slice = d + ".i3";
    if (Deep()) order.push_back(slice);
    order.insert(order.end(), {y, Axis(d, 1, -1)});
    for (const char* name : {".i0", ".ph", ".pw", ".lane"}) order.push_back(d + name);
    s_.ReorderPresent(order);
    if (!plan_.InColumns()) return;
    const std::string& columns = stages_.data_columns;
    options.align = Aligned(1, 1);
    options.layout = BlockedAlong(1, 1, conv_.lanes).ToString();
    std::string at = d + ".cb";
    if (Deep() && s_.Has(slice)) at = slice;
    s_.ComputeAt(columns, s_.Has(y) ? y : at, options);
    s_.ReorderPresent({Axis(columns, 1, -1), Axis(columns, 1, -2), columns + ".i1"});
  }

  // All steps of a phase at once; there may be a condition for each of the two axes.
  void SkipPhases() {
    std::vector<std::string> steps = {sum_ + ".icb", sum_ + ".ic", sum_ + ".unroll"};
    for (int d : {-2, -1}) steps.push_back(Axis(sum_, 1, d));
    steps.push_back(sum_ + ".ocv");
    steps.push_back(sum_ + ".lane");
    for (int axes = 0; axes < 2; ++axes) s_.Unswitch(s_.FirstOf(steps));
  }

  int64_t BlockDepth() const { return Deep() ? config_.Int("block_d") : 1; }

  // Tails get bodies of their own, of constant sizes.
  void Specialise() {
    s_.Simplify();
    if (plan_.SkipsZeros()) SkipPhases();
    const std::string& p = stages_.product;
    const int64_t block_h = config_.Int("block_h");
    const int64_t block_w = config_.Int("block_w");
    if (plan_.columns % block_w != 0) s_.PeelAll(out_ + ".ow", 0, 1);
    if (plan_.rows % block_h != 0) s_.PeelAll(out_ + ".oh", 0, 1);
    if (conv_.depth % BlockDepth() != 0) s_.PeelAll(out_ + ".od", 0, 1);
    const bool pads_lanes = conv_.out % conv_.lanes != 0;
    if (conv_.out_vectors % tile_.vectors != 0 || pads_lanes) s_.PeelAll(out_ + ".oc", 0, 1);
    if (HasTail(plan_.columns, block_w, tile_.columns)) s_.PeelAll(p + ".tw", 0, 1);
    if (HasTail(plan_.rows, block_h, tile_.rows)) s_.PeelAll(p + ".th", 0, 1);
    if (s_.Has(sum_ + ".icb") && plan_.channels % conv_.lanes != 0) s_.PeelAll(sum_ + ".icb", 0, 1);
    if (!conv_.blocked_data && plan_.channels % conv_.lanes != 0) {  // lanes at known places
      s_.PeelAll(stages_.data + ".cb", 0, 1);
    }
    // One of a tile's two directions is unrolled: code of both takes LLVM several times as long,
    // and runs no faster.
    const bool in_columns = plan_.InColumns();
    s_.UnrollAll(out_ + (plan_.UnrollsColumns() ? ".col" : ".row"));
    if (in_registers_) {
      s_.UnrollAll(p + ".ph");
      for (const std::string& row : {p, sum_}) s_.UnrollAll(row + ".pw");
    }
    for (const char* name : {".row", ".col"}) s_.UnrollAll(p + name);
    s_.UnrollAll(p + ".ocv");
    for (int d : {-2, -1}) s_.UnrollAll(Axis(sum_, 1, d));
    for (const char* name : {".row", ".col", ".ocv", ".unroll"}) s_.UnrollAll(sum_ + name);
    s_.UnrollAll(Axis(conv_result_, 0, plan_.UnrollsColumns() ? -1 : -2));
    s_.UnrollAll(stages_.data + (in_columns ? ".pw" : ".i0"));
    if (in_columns) {
      s_.UnrollAll(Axis(stages_.result_columns, 1, -3));
      s_.UnrollAll(Axis(stages_.data_columns, 1, -2));
      s_.VectorizeAll(stages_.result_columns + ".i1");
      s_.VectorizeAll(stages_.data_columns + ".i1");
    }
    s_.VectorizeAll(conv_result_ + ".i1");
    s_.VectorizeAll(stages_.data + ".lane");
  }

  const Task& task_;
  const std::optional<Dilation> dilation_;  // that is split into phases
  Conv conv_;                               // without it
  const Config& config_;
  const WinogradPlan plan_;
  const RegisterTile tile_;
  Sequence s_;
  std::string out_;
  bool copies_;                   // the padded copy is a launch of its own
  int64_t chunk_;                 // channels whose filters are transformed at a time; 0: beforehand
  bool in_registers_;             // filters are transformed there, for each row of positions
  std::string weight_of_phases_;  // empty: there is no dilation
  std::string packed_;            // the filters as they are read then
  std::string block_;             // the innermost loop of the grid
  std::string conv_result_;       // the buffer of what the convolution alone gives
  std::string sum_;               // the accumulators
  WinogradStages stages_;
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
