#include "compiler/schedule/dense/direct.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/dense/direct_schedule.h"
#include "compiler/schedule/dense/dots.h"
#include "compiler/schedule/price/reading.h"
#include "compiler/schedule/price/register_tile.h"

namespace hone::schedule {
namespace {

std::vector<int64_t> UnrollsOf(const Dense& dense, const RegisterTile& tile) {
  return UnrollOptions({2, 4, 8}, dense.steps, tile);
}

std::vector<std::string> RightOptions(const Dense& dense) {
  if (!dense.in_order) return {"packed"};
  if (!MasksUnits(dense)) return {"in_place", "packed"};
  if (dense.units == 1) return {"packed"};
  return {"packed", "in_place"};
}

// Functions computed on all vectors of a tile at once leave it no registers: such a tile is written
// out, and a row of it computed at a time.
std::vector<std::string> EpilogueOptions(const Dense& dense) {
  // Units beyond the last are not there to be copied.
  if (dense.functions == 0 || MasksUnits(dense)) return {"registers"};
  return {"memory", "registers"};
}

// Whether each weight is read once: by the only tile of its units.
bool StreamsWeights(const Dense& dense, const RegisterTile& tile) {
  return dense.batch == 1 && dense.rows <= tile.columns;
}

// Elements of several tiles are read several times, which a packed right operand is better at where
// vectors have to be masked.
std::string DefaultRight(const Dense& dense, const RegisterTile& tile) {
  const std::vector<std::string> options = RightOptions(dense);
  return dense.rows <= tile.columns && options.size() > 1 ? "in_place" : options[0];
}

// Lines of the next units' weights that are fetched while the tiles of these are computed: one a
// step of the sum, or one for as many steps as are unrolled, where that is enough. Of weights that
// are read once: those some steps later.
std::vector<std::string> PrefetchOptionsOf(const Dense& dense, const Config& prefix) {
  const RegisterTile tile = TileOf(prefix);
  const int64_t unroll = prefix.Int("unroll");
  if (dense.kind == ProductKind::kBytes || prefix.String("right") != "packed" ||
      prefix.String("order") != "n_m" || dense.steps / unroll <= 1 || TakesChunks(prefix)) {
    return {"none"};
  }
  if (StreamsWeights(dense, tile) && unroll > 1) return {"none", "stream"};
  const int64_t tiles = CeilDiv(dense.rows, tile.columns);
  if (tiles < 2 || tile.vectors * dense.lanes >= dense.units) return {"none"};
  if (unroll > 1 && unroll * tile.vectors <= 2 * tiles) return {"none", "step", "unrolled"};
  return {"none", "step"};
}

// With narrow vectors only a single row, whose few additions a step cost no more than the loop
// itself, takes several steps at once.
int64_t DefaultUnroll(const Dense& dense, const RegisterTile& tile) {
  constexpr int64_t kFew = 8;
  if (!dense.UnrollsAllTiles() && tile.vectors * tile.columns > kFew) return 1;
  return FourStepsAtOnce(UnrollsOf(dense, tile), tile);
}

// In which one core packs a right operand whose terms are neighbours: reads, writes and, in the
// product, reads it again, and turns it (measured on Zen 5: 2 to 3 bytes a cycle in all).
double TurnCycles(const Dense& dense) {
  const auto bytes = static_cast<double>(dense.batch * dense.units * dense.terms * 4);
  return std::max(2 * ReadRightCycles(dense), bytes / dense.machine.copy.dense_turn_bytes_a_cycle);
}

// Those after the lanes.
std::optional<Knob> NextTiledKnob(const Dense& dense, const Config& prefix) {
  if (auto knob = NextTileKnob(TileProblemOf(dense), prefix)) return knob;
  if (!prefix.Has("unroll")) return IntKnob("unroll", UnrollsOf(dense, TileOf(prefix)), 1);
  if (!prefix.Has("order")) {
    return TextKnob(
        "order",
        dense.rows == 1 ? std::vector<std::string>{"n_m"} : std::vector<std::string>{"n_m", "m_n"},
        "n_m");
  }
  if (!prefix.Has("right")) return TextKnob("right", RightOptions(dense), "packed");
  if (!prefix.Has("epilogue")) return TextKnob("epilogue", EpilogueOptions(dense), "registers");
  if (!prefix.Has("chunk")) {
    const std::vector<int64_t> chunks = DenseChunkOptions(dense, prefix);
    if (chunks.size() > 1) return IntKnob("chunk", chunks, 0);
  }
  if (!prefix.Has("prefetch")) {
    return TextKnob("prefetch", PrefetchOptionsOf(dense, prefix), "none");
  }
  return std::nullopt;
}

std::optional<Knob> NextDirectKnob(const Dense& dense, const Config& prefix) {
  if (!prefix.Has("lanes")) {
    const std::vector<int64_t> lanes = DenseLaneOptions(dense);
    if (lanes.size() > 1) return IntKnob("lanes", lanes, dense.lanes);
    return NextTiledKnob(dense, prefix);
  }
  return NextTiledKnob(OfLanes(dense, prefix), prefix);
}

// On all threads; to compare strategies. Where there are dots, which read the right operand where
// it lies and compute functions in vectors of a tile's units, what is read and packed at every run
// and whole vectors' functions count.
double DirectCycles(const Dense& dense, const RegisterTile& tile) {
  double cycles = static_cast<double>(dense.batch) * TileCycles(TileProblemOf(dense), tile);
  if (HasDenseDots(dense)) {
    cycles += FunctionCycles(dense, dense.batch * dense.rows * CeilDiv(dense.units, dense.lanes));
    cycles = WhileReading(cycles, ReadRightCycles(dense)) + TurnCycles(dense);
  }
  return cycles / static_cast<double>(dense.machine.Threads());
}

PricedConfig BestDirect(const Dense& product) {
  Config config;
  const std::vector<int64_t> lanes = DenseLaneOptions(product);
  // Several halves may take longer than the fewer whole vectors: search tells.
  if (lanes.size() > 1) config.Set("lanes", product.units < lanes[0] ? lanes[1] : lanes[0]);
  const Dense dense = OfLanes(product, config);
  const RegisterTile tile = BestTile(TileProblemOf(dense));
  SetTile(tile, &config);
  config.Set("unroll", DefaultUnroll(dense, tile));
  config.Set("order", std::string("n_m"));
  config.Set("right", DefaultRight(dense, tile));
  config.Set("epilogue", EpilogueOptions(dense)[0]);
  if (DenseChunkOptions(dense, config).size() > 1) {
    config.Set("chunk", DefaultDenseChunk(dense, config));
  }
  // Weights that do not stay in the second cache come from further away at every run.
  const bool far = dense.units * dense.terms * 4 / dense.dot > dense.machine.memory.l2.size_bytes;
  const std::vector<std::string> prefetch = PrefetchOptionsOf(dense, config);
  const bool has_steps = std::ranges::find(prefetch, "step") != prefetch.end();
  config.Set("prefetch", far && has_steps ? "step" : "none");
  const double cycles = DirectCycles(dense, tile);
  return {std::move(config), cycles};
}

class DenseDirectPlan final : public Plan {
 public:
  explicit DenseDirectPlan(std::shared_ptr<const Problem<Dense>> problem)
      : problem_(std::move(problem)) {}

  std::optional<Knob> NextKnob(const Config& prefix) const override {
    return NextDirectKnob(dense(), prefix);
  }
  std::vector<PricedConfig> Ranked() const override { return {BestDirect(dense())}; }
  absl::StatusOr<loop::Nest> Schedule(const Config& config) const override {
    return ScheduleDenseDirect(problem_->task, dense(), config);
  }

 private:
  const Dense& dense() const { return problem_->kernel; }

  const std::shared_ptr<const Problem<Dense>> problem_;
};

}  // namespace

std::unique_ptr<const Plan> OpenDenseDirect(const std::shared_ptr<const Problem<Dense>>& problem) {
  return std::make_unique<DenseDirectPlan>(problem);
}

}  // namespace hone::schedule
