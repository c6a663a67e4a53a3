#include "compiler/schedule/window/direct.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/ceil_div.h"
#include "compiler/schedule/price/register_tile.h"
#include "compiler/schedule/window/direct_schedule.h"

namespace hone::schedule {
namespace {

// The default tile of products is a part of a row: as many sums as hide the latency of the
// multiplications, and a weight serves all of them. Where so many with all taps would be too much
// code, it is a block of positions that share what they load, row of taps by row. That of pools is
// a block of two by two: it shares as much.
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
  SetTile(tile, &config);
  const std::string taps = DefaultTaps(w, tile);
  config.Set("taps", taps);
  config.Set("pad", DefaultPad(w, taps));
  return config;
}

class WindowDirectPlan final : public Plan {
 public:
  explicit WindowDirectPlan(std::shared_ptr<const Problem<Windowed>> problem)
      : problem_(std::move(problem)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    const Windowed& w = windowed();
    if (!prefix.Has("tile_v")) {
      return IntKnob("tile_v", CountsUpTo(4, w.vectors, w.Accumulators()), 1);
    }
    const int64_t left = w.Accumulators() / prefix.Int("tile_v");
    if (!prefix.Has("tile_h")) return IntKnob("tile_h", CountsUpTo(7, w.height, left));
    if (!prefix.Has("tile_w")) {
      return IntKnob("tile_w", CountsUpTo(14, w.width, left / prefix.Int("tile_h")));
    }
    if (!prefix.Has("taps")) return TextKnob("taps", TapOptions(w, TileOf(prefix)));
    if (!prefix.Has("pad")) return TextKnob("pad", w.PadOptions(), "border");
    return std::nullopt;
  }
  std::vector<PricedConfig> Ranked() const override { return {{DefaultDirect(windowed())}}; }
  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return WindowSchedule(problem_->task, windowed(), config).Run();
  }

 private:
  const Windowed& windowed() const { return problem_->kernel; }

  const std::shared_ptr<const Problem<Windowed>> problem_;
};

}  // namespace

std::unique_ptr<const Plan> OpenWindowDirect(
    const std::shared_ptr<const Problem<Windowed>>& problem) {
  return std::make_unique<WindowDirectPlan>(problem);
}

}  // namespace hone::schedule
