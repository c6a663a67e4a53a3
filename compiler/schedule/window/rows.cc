#include "compiler/schedule/window/rows.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/rewrite/fuse_stages.h"
#include "compiler/schedule/rewrite/sequence.h"
#include "compiler/schedule/window/direct_schedule.h"
#include "compiler/schedule/window/loops.h"

namespace hone::schedule {
namespace {

struct WindowRows {
  int64_t lanes = 1;
  RegisterTile tile;                  // `vectors` along the width, of `rows` rows; one column
  std::vector<size_t> unrolled_taps;  // of the loops of the sum
  Border rows;                        // tiles of the height that are apart
  Border columns;                     // of the width
};

class WindowRowsSchedule {
 public:
  WindowRowsSchedule(const Task& task, const AnchorView& view, const WindowRows& rows)
      : view_(view), rows_(rows), s_(task.def->naive), out_(Stage(view.output)) {}

  absl::StatusOr<loop::Nest> Run() && {
    anchor_ = WindowLoops(FuseAroundAnchor(&s_, view_, ""));
    TileOutput();
    TileReduction();
    for (const Loop& loop : {out_.Axis(0), out_.Axis(1), out_.RowTiles()}) {
      s_.ParallelIfPresent(loop);
    }
    Specialise();
    Vectorise();
    return std::move(s_).Finish();
  }

 private:
  void TileOutput() {
    s_.Split(out_.Axis(3), rows_.lanes * rows_.tile.vectors, Tail::kClip, out_.ColumnTiles(),
             out_.Pixels());
    s_.Split(out_.Pixels(), rows_.lanes, Tail::kClip, out_.Column(), out_.Lane());
    s_.Split(out_.Axis(2), rows_.tile.rows, Tail::kClip, out_.RowTiles(), out_.Row());
    s_.Reorder({out_.Axis(0), out_.Axis(1), out_.RowTiles(), out_.ColumnTiles(), out_.Row(),
                out_.Column(), out_.Lane()});
  }

  void TileReduction() {
    s_.ComputeAt(anchor_, out_.ColumnTiles());
    // A tile has one index of the batch, of the channel and perhaps of the row: these have no loop.
    s_.Decompose(s_.FirstOf(anchor_.Axes(4)));
    for (const WindowLoops& part : {anchor_.Init(), anchor_}) {
      s_.Split(part.Axis(3), rows_.lanes, Tail::kClip, part.Column(), part.Lane());
    }
    const WindowLoops init = anchor_.Init();
    s_.ReorderPresent({init.Axis(2), init.Column(), init.Lane()});
    s_.ReorderPresent({anchor_.Reduction(0), anchor_.Reduction(1), anchor_.Reduction(2),
                       anchor_.Axis(2), anchor_.Column(), anchor_.Lane()});
  }

  // Tiles at the border and shorter ones apart, of constant extents all.
  void Specialise() {
    s_.Simplify();
    s_.PeelAll(out_.ColumnTiles(), rows_.columns.first, rows_.columns.last);
    s_.PeelAll(out_.RowTiles(), rows_.rows.first, rows_.rows.last);
    s_.Simplify();
    if (view_.shape[3] % rows_.lanes != 0) {
      for (const Loop& loop : {out_.Column(), anchor_.Column(), anchor_.Init().Column()}) {
        s_.PeelAll(loop, 0, 1);
      }
    }
    s_.Simplify();
  }

  void Vectorise() {
    for (const WindowLoops& stage : {out_, anchor_}) s_.VectorizeAll(stage.Lane());
    for (const Loop& loop : {out_.Row(), out_.Column(), anchor_.Axis(2), anchor_.Column()}) {
      s_.UnrollAll(loop);
    }
    for (const size_t taps : rows_.unrolled_taps) s_.UnrollAll(anchor_.Reduction(taps));
  }

  const AnchorView& view_;
  const WindowRows& rows_;
  Sequence s_;
  WindowLoops out_;
  WindowLoops anchor_;
};

// Rows shorter than a few lanes are better as channels, or left to the generic template.
bool HasRows(const Task& task, const Windowed& w) {
  constexpr int64_t kShortest = 4;
  const bool plain = w.copy.empty() || w.pads;
  return AllRowMajor(task.signature) && w.spatial == 2 && plain && w.width >= kShortest &&
         w.is_float && w.lanes > 1;
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
  rows.rows = w.PeeledBorder(-2, rows.tile.rows);
  rows.columns = w.PeeledBorder(-1, rows.lanes * rows.tile.vectors);
  return rows;
}

Config DefaultRows(const Windowed& w) {
  Config config;
  config.Set("lanes", RowLaneOptions(w)[0]);
  // Four rows share most of what they load.
  const RegisterTile tile{1, std::min<int64_t>(4, w.height), 1};
  SetTile(tile, &config);
  config.Set("taps", TapOptions(w, tile)[0]);
  return config;
}

class WindowRowsPlan final : public Plan {
 public:
  explicit WindowRowsPlan(std::shared_ptr<const Problem<Windowed>> problem)
      : problem_(std::move(problem)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    const Windowed& w = problem_->kernel;
    if (!prefix.Has("lanes")) return IntKnob("lanes", RowLaneOptions(w));
    const int64_t vectors = CeilDiv(w.width, prefix.Int("lanes"));
    // Nine bodies of a tile are emitted, or more.
    constexpr int64_t kMostVectors = 12;
    const int64_t most = std::min(kMostVectors, w.Accumulators());
    if (!prefix.Has("tile_v")) return IntKnob("tile_v", CountsUpTo(7, vectors, most));
    if (!prefix.Has("tile_h")) {
      return IntKnob("tile_h", CountsUpTo(7, w.height, most / prefix.Int("tile_v")));
    }
    if (!prefix.Has("tile_w")) return IntKnob("tile_w", {1});
    if (!prefix.Has("taps")) return TextKnob("taps", TapOptions(w, TileOf(prefix)));
    return std::nullopt;
  }
  std::vector<PricedConfig> Ranked() const override { return {{DefaultRows(problem_->kernel)}}; }
  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    const WindowRows rows = RowsOf(problem_->kernel, config);
    return WindowRowsSchedule(problem_->task, problem_->kernel.view, rows).Run();
  }

 private:
  const std::shared_ptr<const Problem<Windowed>> problem_;
};

}  // namespace

std::unique_ptr<const Plan> OpenWindowRows(
    const std::shared_ptr<const Problem<Windowed>>& problem) {
  if (!HasRows(problem->task, problem->kernel)) return nullptr;
  return std::make_unique<WindowRowsPlan>(problem);
}

}  // namespace hone::schedule
