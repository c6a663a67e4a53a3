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

std::vector<size_t> UnrolledTaps(const Windowed& w, const Config& config) {
  const auto loops = static_cast<size_t>(w.depthwise ? w.spatial + 1 : w.spatial);
  const std::string& taps = config.String("taps");
  if (taps == "loop") return {};
  std::vector<size_t> unrolled;
  for (size_t i = taps == "row" ? loops - 1 : 0; i < loops; ++i) unrolled.push_back(i);
  return unrolled;
}

WindowSchedule::WindowSchedule(const Task& task, const Windowed& w, const Config& config)
    : w_(w),
      s_(task.def->naive),
      task_(task),
      config_(config),
      tile_(TileOf(config)),
      out_(Stage(w.view.output)),
      copies_(!w.copy.empty() && config.String("pad") == "copy") {}

absl::StatusOr<loop::Nest> WindowSchedule::Run() && {
  anchor_ = WindowLoops(FuseAroundAnchor(&s_, w_.view, copies_ ? w_.copy : ""));
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
  Stage packed;
  if (!copies_ && operand != nullptr && operand->layout.BlockOf(1) != w_.lanes) {
    packed = s_.Pack(operand->name, blocks);
  }
  TileOutput();
  TileReduction();
  for (const Loop& loop : Grid()) s_.Parallel(loop);
  if (!packed.empty()) ScheduleDataStage(&s_, packed, w_.lanes);
  if (copies_) ScheduleDataStage(&s_, Stage(w_.copy), w_.lanes);
  Specialise();
  return std::move(s_).Finish();
}

void WindowSchedule::PackWeight() {
  s_.Pack(w_.weight, *Layout::Parse(fmt::format("NCHW{}n", w_.lanes), 4));
}

void WindowSchedule::TileReduction() {
  ComputeTile(anchor_);
  s_.Decompose(anchor_.Axis(1));
  OrderTile(anchor_.Init(), TileAxes(anchor_.Init()));
  std::vector<Loop> order;
  for (int step = 0; step <= w_.spatial; ++step) {
    order.push_back(anchor_.Reduction(static_cast<size_t>(step)));
  }
  for (const Loop& axis : TileAxes(anchor_)) order.push_back(axis);
  OrderTile(anchor_, order);
  s_.VectorizeAll(anchor_.Lane());
}

void WindowSchedule::UnrollReduction() {
  for (const Loop& axis : TileAxes(anchor_)) s_.UnrollAll(axis);
  s_.UnrollAll(anchor_.ChannelVectors());
  for (const size_t taps : UnrolledTaps(w_, config_)) s_.UnrollAll(anchor_.Reduction(taps));
}

void WindowSchedule::ComputeTile(const Stage& stage, int extra_axes) {
  const int rank = w_.rank() + extra_axes;
  ComputeAtOptions options;
  options.align.assign(static_cast<size_t>(rank), 1);
  options.align[1] = w_.lanes;
  options.layout = BlockedChannels(rank, w_.lanes).ToString();
  s_.ComputeAt(stage, out_.ColumnTiles(), options);
}

void WindowSchedule::OrderTile(const WindowLoops& stage, std::vector<Loop> order) {
  const auto [vectors, lane] =
      s_.Split(stage.Axis(1), w_.lanes, Tail::kExact, stage.ChannelVectors(), stage.Lane());
  order.insert(order.end(), {vectors, lane});
  s_.ReorderPresent(order);
}

void WindowSchedule::TileOutput() {
  s_.Split(out_.Axis(1), w_.lanes, Tail::kExact, out_.Vectors(), out_.Lane());
  s_.Split(out_.Vectors(), tile_.vectors, Tail::kClip, out_.ChannelBlocks(), out_.ChannelVectors());
  if (w_.spatial > 1) {
    s_.Split(Axis(out_, -2), tile_.rows, Tail::kClip, out_.RowTiles(), out_.Row());
  }
  s_.Split(Axis(out_, -1), tile_.columns, Tail::kClip, out_.ColumnTiles(), out_.Column());
  std::vector<Loop> order = Grid();
  order.insert(order.end(),
               {out_.ColumnTiles(), out_.Row(), out_.Column(), out_.ChannelVectors(), out_.Lane()});
  s_.ReorderPresent(order);
  s_.Vectorize(out_.Lane());
}

std::vector<Loop> WindowSchedule::Grid() const {
  std::vector<Loop> grid = {out_.Axis(0), out_.ChannelBlocks()};
  if (w_.spatial > 2) grid.push_back(Axis(out_, -3));
  if (w_.spatial > 1) grid.push_back(out_.RowTiles());
  return grid;
}

Loop WindowSchedule::Axis(const Stage& stage, int from_end) const {
  return stage.Axis(static_cast<size_t>(w_.rank() + from_end));
}

std::vector<Loop> WindowSchedule::TileAxes(const Stage& stage) const {
  if (w_.spatial == 1) return {Axis(stage, -1)};
  return {Axis(stage, -2), Axis(stage, -1)};
}

void WindowSchedule::Specialise() {
  s_.Simplify();
  Border rows = w_.PeeledBorder(-2, tile_.rows);
  Border columns = w_.PeeledBorder(-1, tile_.columns);
  if (copies_ && w_.depthwise) {  // no window leaves the copy
    rows = TailBorder(w_.height, tile_.rows);
    columns = TailBorder(w_.width, tile_.columns);
  }
  s_.PeelAll(out_.ColumnTiles(), columns.first, columns.last);
  if (w_.spatial > 1) s_.PeelAll(out_.RowTiles(), rows.first, rows.last);
  if (w_.spatial > 2) {
    const Border slices = w_.PeeledBorder(-3, 1);
    s_.PeelAll(Axis(out_, -3), slices.first, slices.last);
  }
  if (w_.channels % (tile_.vectors * w_.lanes) != 0) s_.PeelAll(out_.ChannelBlocks(), 0, 1);
  if (w_.spatial > 1) s_.UnrollAll(out_.Row());
  for (const Loop& loop : {out_.Column(), out_.ChannelVectors()}) s_.UnrollAll(loop);
  UnrollReduction();
}

}  // namespace hone::schedule
