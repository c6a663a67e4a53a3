// Depthwise convolutions of two axes and pools of one to three: windows that combine the elements
// of one channel. On blocked layouts the lanes are channels (window_schedule.h, filtered_rows.h).
// On row-major data they are neighbours along the width (window_rows.h), or the generic template
// does it.
#include <algorithm>
#include <bit>

#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/templates/filtered_rows.h"
#include "compiler/schedule/templates/kernel_view.h"
#include "compiler/schedule/templates/register_tile.h"
#include "compiler/schedule/templates/stages_strategy.h"
#include "compiler/schedule/templates/templates.h"
#include "compiler/schedule/templates/window_rows.h"
#include "compiler/schedule/templates/window_schedule.h"
#include "compiler/schedule/templates/windowed.h"
#include "support/status.h"

namespace hone::schedule {
namespace {

// Windows as large as a row-major map are rows of columns to reduce.
bool IsReduction(const Task& task) {
  return AllRowMajor(task.signature) && RowsTemplate().Matches(*task.def);
}

bool IsBlocked(const Task& task) { return task.signature.results[0].BlockOf(1) > 1; }

// "unroll": all taps. "row": those along the width, the others in loops.
std::vector<std::string> TapOptions(const Windowed& w, const RegisterTile& tile) {
  const int64_t sums = tile.vectors * tile.rows * tile.columns;
  std::vector<std::string> options;
  if (w.Taps() * sums <= kMaxEmittedFmas) options.push_back("unroll");
  options.push_back("loop");
  if (w.spatial > 1 && w.window.taps.back() * sums <= kMaxEmittedFmas) options.push_back("row");
  return options;
}

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

std::optional<Knob> NextWindowKnob(const Windowed& w, const Config& prefix) {
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
  const int64_t columns = std::min(kMostColumns, w.Accumulators());
  if (w.Taps() * columns > kMaxEmittedFmas) {
    return {1, std::min<int64_t>(2, w.height), std::min<int64_t>(4, w.width)};
  }
  const int64_t unrolled = std::max<int64_t>(1, kMaxEmittedFmas / w.Taps());
  return {1, 1, CeilDiv(w.width, CeilDiv(w.width, std::min(columns, unrolled)))};
}

// Tiles at the border test what taps of loops read, which takes them up to three times as long: of
// 7x7 and 11x11 taps on Zen 4 a copy took 0.84 (at 56x56) to 0.34 (28x28) of the time. Where all
// taps are unrolled, a tile of the border knows beforehand, and leaves them out.
std::string DefaultPad(const Windowed& w, const std::string& taps) {
  const std::vector<std::string> options = w.PadOptions();
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
  if (!CanFilterRows(w)) return {"direct"};
  return {"direct", kFilteredRows};
}

class Channelwise : public Template {
 public:
  explicit Channelwise(bool depthwise) : depthwise_(depthwise) {}
  std::string_view name() const override { return depthwise_ ? "depthwise_conv2d" : "pool"; }
  bool Matches(const ops::KernelDefinition& def) const override {
    return ViewWindowed(def, depthwise_).has_value();
  }

  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const CpuTarget& target) const override {
    return BlockedSignatures(def, ViewWindowed(def, depthwise_)->view, target.VectorLanes());
  }

  Space MakeSpace(const Task& task) const override {
    if (IsReduction(task)) return RowsTemplate().MakeSpace(task);
    if (!IsBlocked(task)) return RowMajorSpace(task);
    return Space([w = WindowedOf(task, depthwise_)](const Config& prefix) -> std::optional<Knob> {
      if (!prefix.Has("strategy")) return TextKnob("strategy", Strategies(w), "direct");
      if (prefix.String("strategy") == kFilteredRows) return NextFilteredRowsKnob(w, prefix);
      if (!prefix.Has("tile_v"))
        return IntKnob("tile_v", CountsUpTo(4, w.vectors, w.Accumulators()), 1);
      const int64_t left = w.Accumulators() / prefix.Int("tile_v");
      if (!prefix.Has("tile_h")) return IntKnob("tile_h", CountsUpTo(7, w.height, left));
      if (!prefix.Has("tile_w")) {
        return IntKnob("tile_w", CountsUpTo(14, w.width, left / prefix.Int("tile_h")));
      }
      if (!prefix.Has("taps")) return TextKnob("taps", TapOptions(w, TileOf(prefix)));
      if (!prefix.Has("pad")) {
        return TextKnob("pad", w.PadOptions(), "border");
      }
      return std::nullopt;
    });
  }

  Config Default(const Task& task) const override {
    if (IsReduction(task)) return RowsTemplate().Default(task);
    const Windowed w = WindowedOf(task, depthwise_);
    if (!IsBlocked(task)) {
      return HasRows(task, w) ? DefaultRows(w) : GenericTemplate().Default(task);
    }
    return FiltersRowsByDefault(w, task.target) ? DefaultFilteredRows(w, task.target.threads)
                                                : DefaultDirect(w);
  }

  std::vector<Config> Alternatives(const Task& task) const override {
    if (IsReduction(task) || !IsBlocked(task)) return {};
    const Windowed w = WindowedOf(task, depthwise_);
    if (!RowFiltersOnlyAdd(w)) return {};
    if (FiltersRowsByDefault(w, task.target)) return {DefaultDirect(w)};
    return {DefaultFilteredRows(w, task.target.threads)};
  }

  absl::StatusOr<loop::Nest> Schedule(const Task& task, const Config& config) const override {
    HONE_RETURN_IF_ERROR(CheckSignature(task));
    if (IsReduction(task)) return RowsTemplate().Schedule(task, config);
    const Windowed w = WindowedOf(task, depthwise_);
    if (!IsBlocked(task) && !HasRows(task, w)) return GenericTemplate().Schedule(task, config);
    HONE_RETURN_IF_ERROR(CheckConfig(MakeSpace(task), config));
    if (!IsBlocked(task)) return ScheduleRowMajor(task, w, config);
    if (config.String("strategy") == kFilteredRows) return ScheduleFilteredRows(task, w, config);
    return WindowSchedule(task, w, config).Run();
  }

 private:
  Space RowMajorSpace(const Task& task) const {
    const Space generic = GenericTemplate().MakeSpace(task);
    const Windowed window = WindowedOf(task, depthwise_);
    if (!HasRows(task, window)) return generic;
    return Space([w = window, generic](const Config& prefix) -> std::optional<Knob> {
      if (!prefix.Has("strategy")) return TextKnob("strategy", {"rows", "stages"}, "stages");
      return prefix.String("strategy") == "rows" ? NextWindowKnob(w, prefix) : generic.Next(prefix);
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

const Template& DepthwiseConv2dTemplate() {
  static const Channelwise instance(true);
  return instance;
}

const Template& PoolTemplate() {
  static const Channelwise instance(false);
  return instance;
}

}  // namespace hone::schedule
