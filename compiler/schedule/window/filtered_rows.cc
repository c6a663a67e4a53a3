#include "compiler/schedule/window/filtered_rows.h"

#include <algorithm>
#include <vector>

#include "compiler/machine/machine.h"
#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/primitives/row_filters.h"
#include "compiler/schedule/primitives/toom_cook.h"
#include "compiler/schedule/window/direct_schedule.h"

namespace hone::schedule {
namespace {

constexpr int64_t kResults = 2;  // that FilterRows computes at once

// A row of the data is transformed once for all rows of the tile.
class FilteredSchedule : public WindowSchedule {
 public:
  using WindowSchedule::WindowSchedule;

 private:
  void ChooseSums() override {
    const RowFilterStages stages = s_.FilterRows(anchor_, kResults);
    filter_ = stages.filter;
    data_ = WindowLoops(stages.data);
    product_ = WindowLoops(stages.product);
  }
  void PackWeight() override {
    s_.Prepare(filter_);
    s_.SetLayout(filter_.buffer(), BlockedLayout(3, 0, w_.lanes));
    // There are whole vectors of channels to read.
    s_.SetLayout(data_.buffer(), BlockedChannels(w_.rank() + 1, w_.lanes));
  }

  void TileReduction() override {
    s_.Inline(anchor_);
    ComputeTile(product_, 1);
    s_.Decompose(product_.Axis(1));
    OrderTile(product_.Init(), TileAxes(product_.Init()));
    std::vector<Loop> order = TileAxes(product_);
    order.insert(order.begin(), product_.Reduction(0));
    OrderTile(product_, order);
    ComputeTile(data_, 1);
    OrderTile(data_, TileAxes(data_));
    for (const WindowLoops& stage : {product_, data_}) s_.VectorizeAll(stage.Lane());
  }

  void UnrollReduction() override {
    s_.UnrollAll(product_.Reduction(0));
    for (const WindowLoops& stage : {product_, data_}) {
      for (const Loop& axis : TileAxes(stage)) s_.UnrollAll(axis);
      s_.UnrollAll(stage.ChannelVectors());
    }
  }

  // Rows of results, tiles along them, and their products.
  static std::vector<Loop> TileAxes(const Stage& stage) {
    return {stage.Axis(2), stage.Axis(3), stage.Axis(4)};
  }

  Stage filter_;
  WindowLoops data_, product_;
};

// Products of a tile, in registers; half of these are left to filters and what is transformed.
int64_t MostTiles(const Windowed& w) {
  const int64_t products = kResults + w.window.taps.back() - 1;
  const int64_t emitted = kMaxEmittedFmas / (products * w.window.taps.front());
  return std::max<int64_t>(1, std::min(w.registers / 2 / products, emitted));
}

bool CanFilterRows(const Windowed& w) {
  const auto is_one = [](int64_t step) { return step == 1; };
  const int64_t taps = w.window.taps.back();
  const int64_t products = (kResults + taps - 1) * w.window.taps.front();
  return w.depthwise && products <= kMaxEmittedFmas && !w.is_strict && w.weight_is_constant &&
         w.is_float && w.spatial == 2 && taps >= 3 && taps <= 5 && w.width >= kResults &&
         std::ranges::all_of(w.window.strides, is_one) &&
         std::ranges::all_of(w.window.dilation, is_one);
}

// With 3x3 taps three rows were measured to be the best (Zen 4): the code of four spills. There are
// fewer where threads would have little to share.
Config DefaultFilteredRows(const Windowed& w, int64_t threads) {
  constexpr int64_t kMostRows = 3, kShares = 4;
  const auto tiles = [&](int64_t rows) { return CeilDiv(w.height, rows); };
  int64_t rows = std::min(kMostRows, MostTiles(w));
  while (rows > 1 && w.vectors * tiles(rows) < kShares * threads) --rows;
  Config config;
  SetTile({1, CeilDiv(w.height, tiles(rows)), kResults}, &config);
  config.Set("pad", w.PadOptions()[0]);
  return config;
}

std::optional<Knob> NextFilteredRowsKnob(const Windowed& w, const Config& prefix) {
  const int64_t most = MostTiles(w);
  if (!prefix.Has("tile_v")) return IntKnob("tile_v", {1});
  if (!prefix.Has("tile_h")) return IntKnob("tile_h", CountsUpTo(7, w.height, most));
  if (!prefix.Has("tile_w")) {
    std::vector<int64_t> columns;
    for (int64_t tiles : CountsUpTo(2, w.width / kResults, most / prefix.Int("tile_h"))) {
      columns.push_back(tiles * kResults);
    }
    return IntKnob("tile_w", columns);
  }
  if (!prefix.Has("pad")) return TextKnob("pad", w.PadOptions());
  return std::nullopt;
}

class FilteredRowsPlan final : public Plan {
 public:
  explicit FilteredRowsPlan(std::shared_ptr<const Problem<Windowed>> problem)
      : problem_(std::move(problem)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    return NextFilteredRowsKnob(windowed(), prefix);
  }
  std::vector<PricedConfig> Ranked() const override {
    return {{DefaultFilteredRows(windowed(), problem_->task.machine.Threads())}};
  }
  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return FilteredSchedule(problem_->task, windowed(), config).Run();
  }
  std::optional<double> Amplification(const Config& /*config*/) const override {
    return MakeToomCook(kResults, windowed().window.taps.back()).Amplification();
  }

 private:
  const Windowed& windowed() const { return problem_->kernel; }

  const std::shared_ptr<const Problem<Windowed>> problem_;
};

}  // namespace

bool RowFiltersOnlyAdd(const Windowed& w) { return CanFilterRows(w) && w.window.taps.back() == 3; }

// Where additions have units of their own, beside those that multiply, the transforms of 3x3
// filters cost less than the third of the products that they save (Zen 4: 0.75 to 0.8 of the time
// of maps of 7x7 and more). On others, and with more taps, measuring decides.
bool FiltersRowsByDefault(const Windowed& w, const machine::Machine& machine) {
  constexpr int64_t kWidth = 7, kRegisters = 32;
  return RowFiltersOnlyAdd(w) && w.Taps() == 9 && w.width >= kWidth &&
         machine.issue.adds_beside_multiplies && w.registers >= kRegisters;
}

std::unique_ptr<const Plan> OpenFilteredRows(
    const std::shared_ptr<const Problem<Windowed>>& problem) {
  if (!CanFilterRows(problem->kernel)) return nullptr;
  return std::make_unique<FilteredRowsPlan>(problem);
}

}  // namespace hone::schedule
