// Depthwise convolutions of two axes and pools of one to three: windows that combine the elements
// of one channel. On blocked layouts the lanes are channels; a block of rows by columns (by channel
// vectors) stays in registers, the taps are unrolled, and the tiles at the border, where windows
// leave the data, are apart, so that the others test nothing. On row-major data the lanes are
// neighbours along the width (window_rows.h), or the generic template does it.
#include "compiler/schedule/templates/channelwise.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "compiler/loop/visit.h"
#include "compiler/ops/attrs.h"
#include "compiler/ops/window.h"
#include "compiler/schedule/primitives/toom_cook.h"
#include "compiler/schedule/templates/conv_view.h"
#include "compiler/schedule/templates/fuse_stages.h"
#include "compiler/schedule/templates/kernel_view.h"
#include "compiler/schedule/templates/register_tile.h"
#include "compiler/schedule/templates/sequence.h"
#include "compiler/schedule/templates/stages_strategy.h"
#include "compiler/schedule/templates/templates.h"
#include "compiler/schedule/templates/window_border.h"
#include "compiler/schedule/templates/window_rows.h"
#include "fmt/format.h"
#include "support/status.h"

namespace hone::schedule {
namespace {

using loop::Buffer;

constexpr int64_t kMaxEmitted = 256;
// Value of the knob "strategy", and what FilterRows computes at once by it.
constexpr char kFiltered[] = "winograd2";
constexpr int64_t kFilteredResults = 2;
constexpr int64_t kMaxPeeled = 2;  // tiles at one end: wider borders would multiply the code

struct Windowed {
  AnchorView view;
  bool depthwise = false;
  std::string weight;    // depthwise
  bool filters = false;  // FilterRows can be had
  std::string copy;      // the last stage before the anchor; empty: none
  bool pads = false;     // that stage pads the data and does nothing else
  std::vector<int64_t> data_shape;
  int spatial = 2;  // axes: width, then height, then depth, as far as they go
  int64_t channels = 0, depth = 1, height = 1, width = 1;
  ops::Window window;  // of these axes

  int rank() const { return spatial + 2; }
  int64_t lanes = 0, registers = 0;
  int64_t vectors = 0;
};

absl::StatusOr<ops::Window> WindowOf(const AnchorView& view, const Buffer& data,
                                     const Buffer& weight) {
  const std::string& op = view.op->op;
  if (weight != nullptr) {
    return ops::ReadWindow(op, view.op->attrs, {weight->shape[2], weight->shape[3]});
  }
  if (op.find("global") != std::string::npos) {
    return ops::ReadWindow(op, {}, ops::Shape(data->shape.begin() + 2, data->shape.end()));
  }
  ops::Shape taps = ops::IntsAttr(view.op->attrs, "pool_size", {1});
  if (taps.size() == 1) taps.assign(data->shape.size() - 2, taps[0]);
  return ops::ReadWindow(op, view.op->attrs, taps);
}

// Of floats, and the largest of bytes. Means of bfloat16 are summed in float32.
bool IsPoolOf(DataType data, DataType anchor) {
  const bool byte = data == DataType::kInt8 || data == DataType::kUInt8;
  if (data == DataType::kBFloat16) return anchor == data || anchor == DataType::kFloat32;
  return data == anchor && (data == DataType::kFloat32 || byte);
}

// Products of three to five taps a row, at every element: with more taps the transforms take as
// many additions as there are products left.
bool CanFilter(const ops::KernelDefinition& def, const Windowed& w, const Buffer& data,
               const Buffer& weight) {
  const auto is_one = [](int64_t step) { return step == 1; };
  const int64_t taps = w.window.taps.back();
  const int64_t products = (kFilteredResults + taps - 1) * w.window.taps.front();
  return products <= kMaxEmitted && def.numerics != ops::Numerics::kStrict &&
         weight->role == loop::Role::kConstant && data->dtype == DataType::kFloat32 &&
         w.spatial == 2 && taps >= 3 && taps <= 5 && w.width >= kFilteredResults &&
         std::ranges::all_of(w.window.strides, is_one) &&
         std::ranges::all_of(w.window.dilation, is_one);
}

std::optional<Windowed> View(const ops::KernelDefinition& def, bool depthwise) {
  std::optional<AnchorView> view =
      depthwise
          ? ViewAnchor(def, {"nn.conv2d"})
          : ViewAnchor(def, {"nn.max_pool1d", "nn.avg_pool1d", "nn.global_max_pool1d",
                             "nn.global_avg_pool1d", "nn.max_pool2d", "nn.avg_pool2d",
                             "nn.global_max_pool2d", "nn.global_avg_pool2d", "nn.max_pool3d",
                             "nn.avg_pool3d", "nn.global_max_pool3d", "nn.global_avg_pool3d"});
  if (!view) return std::nullopt;
  Windowed w;
  w.depthwise = depthwise;
  const Buffer data = BufferOf(def.naive, view->op->args[0]);
  const Buffer anchor = BufferOf(def.naive, view->anchor);
  Buffer weight;
  if (data == nullptr || anchor == nullptr) return std::nullopt;
  if (depthwise) {
    weight = BufferOf(def.naive, view->op->args[1]);
    if (weight == nullptr || weight->shape[1] != 1 || weight->shape[0] != data->shape[1] ||
        (weight->role != loop::Role::kConstant && weight->role != loop::Role::kInput)) {
      return std::nullopt;
    }
    if (KindOfProduct(data, weight, anchor) == ProductKind::kOther) return std::nullopt;
    w.weight = weight->name;
  } else if (!IsPoolOf(data->dtype, anchor->dtype)) {
    return std::nullopt;
  }
  const absl::StatusOr<ops::Window> window = WindowOf(*view, data, weight);
  if (!window.ok()) return std::nullopt;
  w.window = *window;
  if (!view->prologue.empty()) w.copy = view->prologue.back();
  const bool zeros = ir::GetAttr<int64_t>(view->op->attrs, "pad_value", 0) == 0;
  w.pads = depthwise && window->HasPadding() && view->prologue.size() == 1 && zeros;
  w.data_shape = data->shape;
  w.channels = anchor->shape[1];
  w.spatial = static_cast<int>(anchor->shape.size()) - 2;
  w.width = anchor->shape.back();
  if (w.spatial > 1) w.height = anchor->shape[anchor->shape.size() - 2];
  if (w.spatial > 2) w.depth = anchor->shape[2];
  w.view = *std::move(view);
  if (depthwise) w.filters = CanFilter(def, w, data, weight);
  return w;
}

// Windows as large as a row-major map are rows of columns to reduce.
bool IsReduction(const Task& task) {
  return AllRowMajor(task.signature) && RowsTemplate().Matches(*task.def);
}

bool IsBlocked(const Task& task) { return task.signature.results[0].BlockOf(1) > 1; }

Windowed ViewOf(const Task& task, bool depthwise) {
  Windowed w = *View(*task.def, depthwise);
  w.lanes = task.target.VectorLanes();
  w.registers = task.target.VectorRegisters();
  w.vectors = CeilDiv(w.channels, w.lanes);
  return w;
}

int64_t Taps(const Windowed& w) {
  return std::accumulate(w.window.taps.begin(), w.window.taps.end(), int64_t{1},
                         std::multiplies<>());
}

std::vector<int64_t> Upto(int64_t limit, int64_t extent, int64_t fits) {
  std::vector<int64_t> options;
  for (int64_t i = 1; i <= std::min({limit, extent, fits}); ++i) options.push_back(i);
  if (options.empty()) options.push_back(1);
  return options;
}

// One register for what is loaded, one for a weight.
int64_t Accumulators(const Windowed& w) { return w.registers - 2; }

// "unroll": all taps. "row": those along the width, the others in loops.
std::vector<std::string> TapOptions(const Windowed& w, const RegisterTile& tile) {
  const int64_t sums = tile.vectors * tile.rows * tile.columns;
  std::vector<std::string> options;
  if (Taps(w) * sums <= kMaxEmitted) options.push_back("unroll");
  options.push_back("loop");
  if (w.spatial > 1 && w.window.taps.back() * sums <= kMaxEmitted) options.push_back("row");
  return options;
}

// The loops over taps by their names behind the anchor's: of a depthwise convolution the first is
// that of its one input channel.
std::vector<std::string> UnrolledTaps(const Windowed& w, const Config& config) {
  const int loops = w.depthwise ? w.spatial + 1 : w.spatial;
  const std::string& taps = config.String("taps");
  if (taps == "loop") return {};
  std::vector<std::string> unrolled;
  for (int i = taps == "row" ? loops - 1 : 0; i < loops; ++i) {
    unrolled.push_back(fmt::format(".r{}", i));
  }
  return unrolled;
}

// "copy": a stage before the anchor fills a buffer, with zeros around the data where it pads.
// "border": conditions in the tiles at the border.
std::vector<std::string> PadOptions(const Windowed& w) {
  if (w.copy.empty()) return {"border"};
  if (w.pads) return {"border", "copy"};
  return {"copy"};
}

// Axes count from the last: -1 is the width.
int64_t Extent(const Windowed& w, int axis) {
  return w.view.shape[static_cast<size_t>(w.rank() + axis)];
}

// The conditions of wide borders stay where they are.
Border PeeledBorder(const Windowed& w, int axis, int64_t tile) {
  if (w.spatial + axis < 0) return {};
  const int64_t extent = Extent(w, axis);
  const int64_t input = w.data_shape[static_cast<size_t>(w.rank() + axis)];
  Border border = BorderOf(w.window, w.spatial + axis, input, extent, tile);
  if (border.first > kMaxPeeled) border.first = 0;
  if (border.last > kMaxPeeled) border.last = extent % tile != 0 ? 1 : 0;
  return border;
}

class WindowSchedule {
 public:
  WindowSchedule(const Task& task, const Windowed& w, const Config& config)
      : w_(w),
        s_(task.def->naive),
        task_(task),
        config_(config),
        tile_(TileOf(config)),
        out_(w.view.output),
        copies_(!w.copy.empty() && config.String("pad") == "copy") {}

  virtual ~WindowSchedule() = default;
  WindowSchedule(const WindowSchedule&) = delete;
  WindowSchedule& operator=(const WindowSchedule&) = delete;

  absl::StatusOr<loop::Nest> Run() && {
    anchor_ = FuseAroundAnchor(&s_, w_.view, copies_ ? w_.copy : "");
    ChooseSums();
    SetSignatureLayouts(&s_, task_);
    if (w_.depthwise) PackWeight();
    const Layout blocks = BlockedChannels(w_.rank(), w_.lanes);
    if (copies_) {
      s_.SetLayout(w_.copy, blocks);
    }
    // Lanes that gather are slower than a copy, and beyond the last channel there is nothing to
    // gather.
    const Buffer operand = BufferOf(s_.nest(), w_.view.op->args[0]);
    std::string packed;
    if (!copies_ && operand != nullptr && operand->layout.BlockOf(1) != w_.lanes) {
      packed = s_.Pack(operand->name, blocks);
    }
    TileOutput();
    TileReduction();
    for (const std::string& loop : Grid()) s_.Parallel(loop);
    if (!packed.empty()) ScheduleDataStage(&s_, packed, w_.lanes);
    if (copies_) ScheduleDataStage(&s_, w_.copy, w_.lanes);
    Specialise();
    return std::move(s_).Finish();
  }

 protected:
  // These are what FilteredSchedule does otherwise.
  virtual void ChooseSums() {}
  virtual void PackWeight() {
    s_.Pack(w_.weight, *Layout::Parse(fmt::format("NCHW{}n", w_.lanes), 4));
  }
  virtual void TileReduction() {
    ComputeTile(anchor_);
    s_.Decompose(anchor_ + ".i1");
    for (const std::string& suffix : {std::string("_init"), std::string()}) {
      std::vector<std::string> order;
      if (suffix.empty()) order = {".r0", ".r1", ".r2", ".r3"};
      for (const std::string& axis : TileAxes()) order.push_back(axis + suffix);
      OrderTile(anchor_, order, suffix);
    }
    s_.VectorizeAll(anchor_ + ".lane");
  }
  virtual void UnrollReduction() {
    for (const std::string& axis : TileAxes()) s_.UnrollAll(anchor_ + axis);
    s_.UnrollAll(anchor_ + ".cv");
    for (const std::string& loop : UnrolledTaps(w_, config_)) s_.UnrollAll(anchor_ + loop);
  }

  // Computes a stage, whose axes after the channels are a tile's, for one tile in registers.
  void ComputeTile(const std::string& stage, int extra_axes = 0) {
    const int rank = w_.rank() + extra_axes;
    ComputeAtOptions options;
    options.align.assign(static_cast<size_t>(rank), 1);
    options.align[1] = w_.lanes;
    options.layout = BlockedChannels(rank, w_.lanes).ToString();
    s_.ComputeAt(stage, out_ + ".ow", options);
  }
  // Its loops: those of these names, then vectors of channels.
  void OrderTile(const std::string& stage, std::vector<std::string> order,
                 const std::string& suffix = "") {
    s_.Split(stage + ".i1" + suffix, w_.lanes, Tail::kExact, stage + ".cv" + suffix,
             stage + ".lane" + suffix);
    order.insert(order.end(), {".cv" + suffix, ".lane" + suffix});
    for (std::string& loop : order) loop = stage + loop;
    s_.ReorderPresent(order);
  }

  const Windowed& w_;
  Sequence s_;
  std::string anchor_;

 private:
  void TileOutput() {
    s_.Split(out_ + ".i1", w_.lanes, Tail::kExact, out_ + ".v", out_ + ".lane");
    s_.Split(out_ + ".v", tile_.vectors, Tail::kClip, out_ + ".c", out_ + ".cv");
    if (w_.spatial > 1) {
      s_.Split(out_ + Axis(-2), tile_.rows, Tail::kClip, out_ + ".oh", out_ + ".row");
    }
    s_.Split(out_ + Axis(-1), tile_.columns, Tail::kClip, out_ + ".ow", out_ + ".col");
    std::vector<std::string> order = Grid();
    for (const char* name : {".ow", ".row", ".col", ".cv", ".lane"}) order.push_back(out_ + name);
    s_.ReorderPresent(order);
    s_.Vectorize(out_ + ".lane");
  }

  // Outermost first.
  std::vector<std::string> Grid() const {
    std::vector<std::string> grid = {out_ + ".i0", out_ + ".c"};
    if (w_.spatial > 2) grid.push_back(out_ + Axis(-3));
    if (w_.spatial > 1) grid.push_back(out_ + ".oh");
    return grid;
  }

  // Suffix of the loop of a spatial axis: -1 is the width.
  std::string Axis(int from_end) const { return fmt::format(".i{}", w_.rank() + from_end); }
  // Those of the tile.
  std::vector<std::string> TileAxes() const {
    if (w_.spatial == 1) return {Axis(-1)};
    return {Axis(-2), Axis(-1)};
  }

  void Specialise() {
    s_.Simplify();
    Border rows = PeeledBorder(w_, -2, tile_.rows);
    Border columns = PeeledBorder(w_, -1, tile_.columns);
    if (copies_ && w_.depthwise) {  // no window leaves the copy
      rows = {0, w_.height % tile_.rows != 0 ? 1 : 0};
      columns = {0, w_.width % tile_.columns != 0 ? 1 : 0};
    }
    s_.PeelAll(out_ + ".ow", columns.first, columns.last);
    if (w_.spatial > 1) s_.PeelAll(out_ + ".oh", rows.first, rows.last);
    if (w_.spatial > 2) {
      const Border slices = PeeledBorder(w_, -3, 1);
      s_.PeelAll(out_ + Axis(-3), slices.first, slices.last);
    }
    if (w_.channels % (tile_.vectors * w_.lanes) != 0) s_.PeelAll(out_ + ".c", 0, 1);
    for (const char* name : {".row", ".col", ".cv"}) s_.UnrollAll(out_ + name);
    UnrollReduction();
  }

  const Task& task_;
  const Config& config_;
  RegisterTile tile_;
  std::string out_;
  bool copies_;
};

// A row of filters by two results at once (FilterRows): of three taps four products for six. A row
// of the data is transformed once for all rows of the tile.
class FilteredSchedule : public WindowSchedule {
 public:
  using WindowSchedule::WindowSchedule;

 private:
  void ChooseSums() override { stages_ = s_.FilterRows(anchor_, kFilteredResults); }
  void PackWeight() override {
    s_.Prepare(stages_.filter);
    s_.SetLayout(stages_.filter, BlockedLayout(3, 0, w_.lanes));
    // There are whole vectors of channels to read.
    s_.SetLayout(stages_.data, BlockedChannels(w_.rank() + 1, w_.lanes));
  }

  void TileReduction() override {
    s_.Inline(anchor_);
    ComputeTile(stages_.product, 1);
    s_.Decompose(stages_.product + ".i1");
    OrderTile(stages_.product, {".i2_init", ".i3_init", ".i4_init"}, "_init");
    OrderTile(stages_.product, {".r0", ".i2", ".i3", ".i4"});
    ComputeTile(stages_.data, 1);
    OrderTile(stages_.data, {".i2", ".i3", ".i4"});
    for (const std::string& stage : {stages_.product, stages_.data}) {
      s_.VectorizeAll(stage + ".lane");
    }
  }

  void UnrollReduction() override {
    for (const std::string& stage : {stages_.product, stages_.data}) {
      for (const char* loop : {".r0", ".i2", ".i3", ".i4", ".cv"}) s_.UnrollAll(stage + loop);
    }
  }

  RowFilterStages stages_;
};

// Rows shorter than a few lanes are better as channels, or left to the generic template.
bool HasRows(const Task& task, const Windowed& w) {
  constexpr int64_t kShortest = 4;
  const Buffer data = BufferOf(task.def->naive, w.view.op->args[0]);
  const bool plain = w.copy.empty() || w.pads;
  return AllRowMajor(task.signature) && w.spatial == 2 && plain && w.width >= kShortest &&
         data->dtype == DataType::kFloat32 && w.lanes > 1;
}

std::vector<int64_t> RowLaneOptions(const Windowed& w) {
  const auto fit = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(w.width)));
  const int64_t most = std::min(w.lanes, fit);
  return most >= 8 ? std::vector<int64_t>{most, most / 2} : std::vector<int64_t>{most};
}

WindowRows RowsOf(const Windowed& w, const Config& config) {
  WindowRows rows;
  rows.lanes = config.Int("lanes");
  rows.tile = TileOf(config);
  rows.unrolled_taps = UnrolledTaps(w, config);
  rows.rows = PeeledBorder(w, -2, rows.tile.rows);
  rows.columns = PeeledBorder(w, -1, rows.lanes * rows.tile.vectors);
  return rows;
}

std::optional<Knob> NextRowKnob(const Windowed& w, const Config& prefix) {
  if (!prefix.Has("lanes")) return IntKnob("lanes", RowLaneOptions(w));
  const int64_t vectors = CeilDiv(w.width, prefix.Int("lanes"));
  // Nine bodies of a tile are emitted, or more.
  constexpr int64_t kMostVectors = 12;
  const int64_t most = std::min(kMostVectors, Accumulators(w));
  if (!prefix.Has("tile_v")) return IntKnob("tile_v", Upto(7, vectors, most));
  if (!prefix.Has("tile_h")) {
    return IntKnob("tile_h", Upto(7, w.height, most / prefix.Int("tile_v")));
  }
  if (!prefix.Has("tile_w")) return IntKnob("tile_w", {1});
  if (!prefix.Has("taps")) return TextKnob("taps", TapOptions(w, TileOf(prefix)));
  return std::nullopt;
}

Config DefaultRows(const Windowed& w) {
  Config config;
  config.Set("strategy", std::string("rows"));
  config.Set("lanes", RowLaneOptions(w)[0]);
  // Four rows share most of what they load.
  const RegisterTile tile{1, std::min<int64_t>(4, w.height), 1};
  SetTile(tile, &config);
  config.Set("taps", TapOptions(w, tile)[0]);
  return config;
}

// Of products a part of a row: as many sums as hide the latency of the multiplications, a weight
// serves all of them. Where so many with all taps would be too much code, a block of positions that
// share what they load, row of taps by row. Of pools a block of two by two: it shares as much.
RegisterTile DefaultPositions(const Windowed& w) {
  if (!w.depthwise) return {1, std::min<int64_t>(2, w.height), std::min<int64_t>(2, w.width)};
  constexpr int64_t kMostColumns = 7;
  const int64_t columns = std::min(kMostColumns, Accumulators(w));
  if (Taps(w) * columns > kMaxEmitted) {
    return {1, std::min<int64_t>(2, w.height), std::min<int64_t>(4, w.width)};
  }
  const int64_t unrolled = std::max<int64_t>(1, kMaxEmitted / Taps(w));
  return {1, 1, CeilDiv(w.width, CeilDiv(w.width, std::min(columns, unrolled)))};
}

// Tiles at the border test what taps of loops read, which takes them up to three times as long: of
// 7x7 and 11x11 taps on Zen 4 a copy took 0.84 (at 56x56) to 0.34 (28x28) of the time. Where all
// taps are unrolled, a tile of the border knows beforehand, and leaves them out.
std::string DefaultPad(const Windowed& w, const std::string& taps) {
  const std::vector<std::string> options = PadOptions(w);
  return w.depthwise && taps != "unroll" ? options.back() : options.front();
}

std::string DefaultTaps(const Windowed& w, const RegisterTile& tile) {
  const std::vector<std::string> options = TapOptions(w, tile);
  return w.depthwise && options.front() == "loop" ? options.back() : options.front();
}

Config DefaultDirect(const Windowed& w) {
  RegisterTile tile = DefaultPositions(w);
  // Where there is but one position, channel vectors take the place of others.
  while (tile.vectors * tile.rows * tile.columns < 4 &&
         tile.vectors * 2 <= std::min<int64_t>(4, w.vectors)) {
    tile.vectors *= 2;
  }
  Config config;
  config.Set("strategy", std::string("direct"));
  SetTile(tile, &config);
  const std::string taps = DefaultTaps(w, tile);
  config.Set("taps", taps);
  config.Set("pad", DefaultPad(w, taps));
  return config;
}

std::vector<std::string> Strategies(const Windowed& w) {
  if (!w.filters) return {"direct"};
  return {"direct", kFiltered};
}

// Products of a tile, in registers; half of these are left to filters and what is transformed.
int64_t FilteredTiles(const Windowed& w) {
  const int64_t products = kFilteredResults + w.window.taps.back() - 1;
  const int64_t emitted = kMaxEmitted / (products * w.window.taps.front());
  return std::max<int64_t>(1, std::min(w.registers / 2 / products, emitted));
}

std::optional<Knob> NextFilteredKnob(const Windowed& w, const Config& prefix) {
  const int64_t most = FilteredTiles(w);
  if (!prefix.Has("tile_v")) return IntKnob("tile_v", {1});
  if (!prefix.Has("tile_h")) return IntKnob("tile_h", Upto(7, w.height, most));
  if (!prefix.Has("tile_w")) {
    std::vector<int64_t> columns;
    for (int64_t tiles : Upto(2, w.width / kFilteredResults, most / prefix.Int("tile_h"))) {
      columns.push_back(tiles * kFilteredResults);
    }
    return IntKnob("tile_w", columns);
  }
  if (!prefix.Has("pad")) return TextKnob("pad", PadOptions(w));
  return std::nullopt;
}

// Of 3x3 taps three rows were measured to be the best (Zen 4): of four, code spills. Fewer where
// threads would have little to share.
Config DefaultFiltered(const Windowed& w, int64_t threads) {
  constexpr int64_t kMostRows = 3, kShares = 4;
  const auto tiles = [&](int64_t rows) { return CeilDiv(w.height, rows); };
  int64_t rows = std::min(kMostRows, FilteredTiles(w));
  while (rows > 1 && w.vectors * tiles(rows) < kShares * threads) --rows;
  Config config;
  config.Set("strategy", std::string(kFiltered));
  SetTile({1, CeilDiv(w.height, tiles(rows)), kFilteredResults}, &config);
  config.Set("pad", PadOptions(w)[0]);
  return config;
}

// Of three taps a row the transforms only add.
bool AddsOnly(const Windowed& w) { return w.filters && w.window.taps.back() == 3; }

// Zen's cores add in units of their own, beside those that multiply: there the transforms of 3x3
// filters cost less than the third of the products that they save (Zen 4: 0.75 to 0.8 of the time
// of maps of 7x7 and more). On others, and with more taps, measuring decides.
bool FiltersByDefault(const Windowed& w, const Target& target) {
  constexpr int64_t kWidth = 7, kRegisters = 32;
  return AddsOnly(w) && Taps(w) == 9 && w.width >= kWidth && target.cpu == "znver4" &&
         w.registers >= kRegisters;
}

class Channelwise : public Template {
 public:
  explicit Channelwise(bool depthwise) : depthwise_(depthwise) {}
  std::string_view name() const override { return depthwise_ ? "depthwise_conv2d" : "pool"; }
  bool Matches(const ops::KernelDefinition& def) const override {
    return View(def, depthwise_).has_value();
  }

  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const Target& target) const override {
    return BlockedSignatures(def, View(def, depthwise_)->view, target.VectorLanes());
  }

  Space MakeSpace(const Task& task) const override {
    if (IsReduction(task)) return RowsTemplate().MakeSpace(task);
    if (!IsBlocked(task)) return RowMajorSpace(task);
    return Space([w = ViewOf(task, depthwise_)](const Config& prefix) -> std::optional<Knob> {
      if (!prefix.Has("strategy")) return TextKnob("strategy", Strategies(w), "direct");
      if (prefix.String("strategy") == kFiltered) return NextFilteredKnob(w, prefix);
      if (!prefix.Has("tile_v")) return IntKnob("tile_v", Upto(4, w.vectors, Accumulators(w)), 1);
      const int64_t left = Accumulators(w) / prefix.Int("tile_v");
      if (!prefix.Has("tile_h")) return IntKnob("tile_h", Upto(7, w.height, left));
      if (!prefix.Has("tile_w")) {
        return IntKnob("tile_w", Upto(14, w.width, left / prefix.Int("tile_h")));
      }
      if (!prefix.Has("taps")) return TextKnob("taps", TapOptions(w, TileOf(prefix)));
      if (!prefix.Has("pad")) {
        return TextKnob("pad", PadOptions(w), "border");
      }
      return std::nullopt;
    });
  }

  Config Default(const Task& task) const override {
    if (IsReduction(task)) return RowsTemplate().Default(task);
    const Windowed w = ViewOf(task, depthwise_);
    if (!IsBlocked(task)) {
      return HasRows(task, w) ? DefaultRows(w) : GenericTemplate().Default(task);
    }
    return FiltersByDefault(w, task.target) ? DefaultFiltered(w, task.target.threads)
                                            : DefaultDirect(w);
  }

  std::vector<Config> Alternatives(const Task& task) const override {
    if (IsReduction(task) || !IsBlocked(task)) return {};
    const Windowed w = ViewOf(task, depthwise_);
    if (!AddsOnly(w)) return {};
    if (FiltersByDefault(w, task.target)) return {DefaultDirect(w)};
    return {DefaultFiltered(w, task.target.threads)};
  }

  absl::StatusOr<loop::Nest> Schedule(const Task& task, const Config& config) const override {
    HONE_RETURN_IF_ERROR(CheckSignature(task));
    if (IsReduction(task)) return RowsTemplate().Schedule(task, config);
    const Windowed w = ViewOf(task, depthwise_);
    if (!IsBlocked(task) && !HasRows(task, w)) return GenericTemplate().Schedule(task, config);
    HONE_RETURN_IF_ERROR(CheckConfig(MakeSpace(task), config));
    if (!IsBlocked(task)) return ScheduleRowMajor(task, w, config);
    if (config.String("strategy") == kFiltered) return FilteredSchedule(task, w, config).Run();
    return WindowSchedule(task, w, config).Run();
  }

 private:
  Space RowMajorSpace(const Task& task) const {
    const Space generic = GenericTemplate().MakeSpace(task);
    const Windowed window = ViewOf(task, depthwise_);
    if (!HasRows(task, window)) return generic;
    return Space([w = window, generic](const Config& prefix) -> std::optional<Knob> {
      if (!prefix.Has("strategy")) return TextKnob("strategy", {"rows", "stages"}, "stages");
      return prefix.String("strategy") == "rows" ? NextRowKnob(w, prefix) : generic.Next(prefix);
    });
  }

  static absl::StatusOr<loop::Nest> ScheduleRowMajor(const Task& task, const Windowed& w,
                                                     const Config& config) {
    if (config.String("strategy") == "rows") {
      return ScheduleWindowRows(task, w.view, RowsOf(w, config));
    }
    return ScheduleAsStages(task, config);
  }

  bool depthwise_;
};

}  // namespace

double FilteredRowsAmplification(const ops::KernelDefinition& def) {
  const std::optional<Windowed> w = View(def, /*depthwise=*/true);
  return w ? MakeToomCook(kFilteredResults, w->window.taps.back()).Amplification() : 1;
}

const Template& DepthwiseConv2dTemplate() {
  static const Channelwise instance(true);
  return instance;
}

const Template& PoolTemplate() {
  static const Channelwise instance(false);
  return instance;
}

}  // namespace hone::schedule
