// Matrix products with constant weights: a register tile of rows of the data by vectors of output
// units, the weights packed so that each step of the sum reads whole lines in order. One row is the
// case of many accumulator vectors and one stream of weights. Of 8-bit integers and bfloat16, a
// step of the sum is a dot product of four or two. The right operand of a batched product is packed
// where it is transposed, and read where it lies where its rows lie along the output's; moves of
// either operand's elements (slices, reshapes, transposes) are part of the reading. Other
// strategies: dense_dots.h, dense_tiles.h.
#include <algorithm>

#include "compiler/schedule/templates/dense_direct.h"
#include "compiler/schedule/templates/dense_dots.h"
#include "compiler/schedule/templates/dense_tiles.h"
#include "compiler/schedule/templates/dense_view.h"
#include "compiler/schedule/templates/register_tile.h"
#include "compiler/schedule/templates/templates.h"
#include "support/status.h"

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

// Of narrow vectors only a single row, whose few additions a step cost no more than the loop
// itself, takes several steps at once.
int64_t DefaultUnroll(const Dense& dense, const RegisterTile& tile) {
  constexpr int64_t kFew = 8;
  if (!dense.UnrollsAllTiles() && tile.vectors * tile.columns > kFew) return 1;
  return FourStepsAtOnce(UnrollsOf(dense, tile), tile);
}

std::vector<std::string> Strategies(const Dense& dense, const CpuTarget& target) {
  std::vector<std::string> strategies = {"direct"};
  if (HasDenseTiles(dense, target)) strategies.emplace_back("tiles");
  if (HasDenseDots(dense)) strategies.emplace_back("dots");
  return strategies;
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
  return cycles / static_cast<double>(dense.threads);
}

StrategyChoice BestDirect(const Dense& product, const CpuTarget& target) {
  Config config;
  config.Set("strategy", std::string("direct"));
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
  const bool far = dense.units * dense.terms * 4 / dense.dot > target.facts.l2_bytes;
  const std::vector<std::string> prefetch = PrefetchOptionsOf(dense, config);
  const bool has_steps = std::ranges::find(prefetch, "step") != prefetch.end();
  config.Set("prefetch", far && has_steps ? "step" : "none");
  const double cycles = DirectCycles(dense, tile);
  return {std::move(config), cycles};
}

// The best config of each strategy, the fastest first.
std::vector<StrategyChoice> Choices(const Dense& dense, const CpuTarget& target) {
  std::vector<StrategyChoice> choices = {BestDirect(dense, target)};
  if (HasDenseTiles(dense, target)) choices.push_back(BestDenseTiles(dense));
  if (HasDenseDots(dense)) choices.push_back(BestDenseDots(dense));
  std::ranges::stable_sort(choices, {}, &StrategyChoice::cycles);
  return choices;
}

class DenseTemplateImpl : public Template {
 public:
  std::string_view name() const override { return "dense"; }
  bool Matches(const ops::KernelDefinition& def) const override {
    return ViewDense(def).has_value();
  }
  std::vector<ir::LayoutSignature> Signatures(const ops::KernelDefinition& def,
                                              const CpuTarget& /*target*/) const override {
    return {RowMajorSignature(def)};
  }

  Space MakeSpace(const Task& task) const override {
    return Space(
        [dense = DenseOf(task), target = task.target](const Config& prefix) -> std::optional<Knob> {
          if (!prefix.Has("strategy"))
            return TextKnob("strategy", Strategies(dense, target), "direct");
          if (prefix.String("strategy") == "tiles") return NextDenseTilesKnob(dense, prefix);
          if (prefix.String("strategy") == "dots") return NextDenseDotsKnob(dense, prefix);
          return NextDirectKnob(dense, prefix);
        });
  }

  Config Default(const Task& task) const override {
    return Choices(DenseOf(task), task.target)[0].config;
  }

  std::vector<Config> Alternatives(const Task& task) const override {
    std::vector<Config> others;
    for (StrategyChoice& choice : Choices(DenseOf(task), task.target)) {
      others.push_back(std::move(choice.config));
    }
    others.erase(others.begin());
    return others;
  }

  absl::StatusOr<loop::Nest> Schedule(const Task& task, const Config& config) const override {
    HONE_RETURN_IF_ERROR(CheckSignature(task));
    HONE_RETURN_IF_ERROR(CheckConfig(MakeSpace(task), config));
    const Dense dense = DenseOf(task);
    if (config.String("strategy") == "tiles") return ScheduleDenseTiles(task, dense, config);
    if (config.String("strategy") == "dots") return ScheduleDenseDots(task, dense, config);
    return ScheduleDenseDirect(task, dense, config);
  }
};

}  // namespace

const Template& DenseTemplate() {
  static const DenseTemplateImpl instance;
  return instance;
}

}  // namespace hone::schedule
