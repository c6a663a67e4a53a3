#include "compiler/schedule/window/direct_schedule.h"

#include <utility>

#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/rewrite/fuse_stages.h"
#include "fmt/format.h"

namespace hone::schedule {

using loop::Buffer;

// The first loop over taps of a depthwise convolution is that of its one input channel.
std::vector<std::string> TapOptions(const Windowed& w, const RegisterTile& tile) {
  const int64_t sums = tile.vectors * tile.rows * tile.columns;
  std::vector<std::string> options;
  if (w.Taps() * sums <= kMaxEmittedFmas) options.push_back("unroll");
  options.push_back("loop");
  if (w.spatial > 1 && w.window.taps.back() * sums <= kMaxEmittedFmas) options.push_back("row");
  return options;
}

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

WindowSchedule::WindowSchedule(const Task& task, const Windowed& w, const Config& config)
    : w_(w),
      s_(task.def->naive),
      task_(task),
      config_(config),
      tile_(TileOf(config)),
      out_(w.view.output),
      copies_(!w.copy.empty() && config.String("pad") == "copy") {}

absl::StatusOr<loop::Nest> WindowSchedule::Run() && {
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

void WindowSchedule::PackWeight() {
  s_.Pack(w_.weight, *Layout::Parse(fmt::format("NCHW{}n", w_.lanes), 4));
}

void WindowSchedule::TileReduction() {
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

void WindowSchedule::UnrollReduction() {
  for (const std::string& axis : TileAxes()) s_.UnrollAll(anchor_ + axis);
  s_.UnrollAll(anchor_ + ".cv");
  for (const std::string& loop : UnrolledTaps(w_, config_)) s_.UnrollAll(anchor_ + loop);
}

void WindowSchedule::ComputeTile(const std::string& stage, int extra_axes) {
  const int rank = w_.rank() + extra_axes;
  ComputeAtOptions options;
  options.align.assign(static_cast<size_t>(rank), 1);
  options.align[1] = w_.lanes;
  options.layout = BlockedChannels(rank, w_.lanes).ToString();
  s_.ComputeAt(stage, out_ + ".ow", options);
}

void WindowSchedule::OrderTile(const std::string& stage, std::vector<std::string> order,
                               const std::string& suffix) {
  s_.Split(stage + ".i1" + suffix, w_.lanes, Tail::kExact, stage + ".cv" + suffix,
           stage + ".lane" + suffix);
  order.insert(order.end(), {".cv" + suffix, ".lane" + suffix});
  for (std::string& loop : order) loop = stage + loop;
  s_.ReorderPresent(order);
}

void WindowSchedule::TileOutput() {
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

std::vector<std::string> WindowSchedule::Grid() const {
  std::vector<std::string> grid = {out_ + ".i0", out_ + ".c"};
  if (w_.spatial > 2) grid.push_back(out_ + Axis(-3));
  if (w_.spatial > 1) grid.push_back(out_ + ".oh");
  return grid;
}

std::string WindowSchedule::Axis(int from_end) const {
  return fmt::format(".i{}", w_.rank() + from_end);
}

std::vector<std::string> WindowSchedule::TileAxes() const {
  if (w_.spatial == 1) return {Axis(-1)};
  return {Axis(-2), Axis(-1)};
}

void WindowSchedule::Specialise() {
  s_.Simplify();
  Border rows = w_.PeeledBorder(-2, tile_.rows);
  Border columns = w_.PeeledBorder(-1, tile_.columns);
  if (copies_ && w_.depthwise) {  // no window leaves the copy
    rows = TailBorder(w_.height, tile_.rows);
    columns = TailBorder(w_.width, tile_.columns);
  }
  s_.PeelAll(out_ + ".ow", columns.first, columns.last);
  if (w_.spatial > 1) s_.PeelAll(out_ + ".oh", rows.first, rows.last);
  if (w_.spatial > 2) {
    const Border slices = w_.PeeledBorder(-3, 1);
    s_.PeelAll(out_ + Axis(-3), slices.first, slices.last);
  }
  if (w_.channels % (tile_.vectors * w_.lanes) != 0) s_.PeelAll(out_ + ".c", 0, 1);
  for (const char* name : {".row", ".col", ".cv"}) s_.UnrollAll(out_ + name);
  UnrollReduction();
}

}  // namespace hone::schedule
