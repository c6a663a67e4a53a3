#include "compiler/schedule/price/register_tile.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/parts.h"
#include "compiler/schedule/price/issue.h"

namespace hone::schedule {

std::vector<int64_t> EvenSizes(int64_t extent, int64_t limit,
                               const std::function<bool(int64_t)>& fits) {
  std::vector<int64_t> sizes;
  int64_t largest = 0;
  for (int64_t size = 1; size <= std::min(limit, extent) && fits(size); ++size) {
    largest = size;
    if (size == CeilDiv(extent, CeilDiv(extent, size))) sizes.push_back(size);
  }
  if (sizes.empty() || sizes.back() != largest) sizes.push_back(std::max<int64_t>(largest, 1));
  return sizes;
}

void KeepExact(int64_t extent, std::vector<int64_t>* sizes) {
  const int64_t largest = sizes->back();
  const auto is_exact = [&](int64_t size) { return extent % size == 0; };
  if (std::any_of(sizes->begin(), sizes->end(),
                  [&](int64_t size) { return is_exact(size) && 2 * size >= largest; })) {
    std::erase_if(*sizes, [&](int64_t size) { return !is_exact(size); });
  }
}

namespace {

constexpr int64_t kMaxVectors = 8;
constexpr int64_t kMaxRows = 7;

std::vector<int64_t> VectorOptions(const RegisterTileProblem& problem) {
  std::vector<int64_t> options;
  for (int64_t v = 1; v <= std::min(kMaxVectors, problem.vectors); ++v) {
    if (problem.vector_group > 0 && problem.vector_group % v != 0) continue;
    if (FitsRegisters({v, 1, 1}, problem.registers)) options.push_back(v);
  }
  return options;
}

std::vector<int64_t> RowOptions(const RegisterTileProblem& problem, int64_t vectors) {
  return EvenSizes(problem.rows, kMaxRows,
                   [&](int64_t h) { return FitsRegisters({vectors, h, 1}, problem.registers); });
}

// Tiles too small to hide the latency of the multiplications are left out where larger ones exist,
// and so are those that would leave a smaller tile at the end of the columns where one is left at
// the end of the rows: each size of tile is code of its own.
std::vector<int64_t> ColumnOptions(const RegisterTileProblem& problem, int64_t vectors,
                                   int64_t rows) {
  constexpr int64_t kFewest = 4;
  std::vector<int64_t> sizes = EvenSizes(problem.columns, problem.columns, [&](int64_t w) {
    return FitsRegisters({vectors, rows, w}, problem.registers);
  });
  const int64_t largest = sizes.back();
  std::erase_if(sizes, [&](int64_t w) { return w != largest && w * rows * vectors < kFewest; });
  if (problem.rows % rows != 0) KeepExact(problem.columns, &sizes);
  return sizes;
}

// A panel of so many vectors needs room in a cache beside the data.
bool StaysIn(int64_t cache_bytes, const RegisterTileProblem& problem, int64_t vectors) {
  return 3 * vectors * problem.vector_bytes * problem.steps <= 2 * cache_bytes;
}

// Bytes of a step's vectors of weights that come from the second cache, since their panel does not
// stay in the first.
double SecondCacheBytes(const RegisterTileProblem& problem, const RegisterTile& tile) {
  if (problem.l1_bytes == 0 || StaysIn(problem.l1_bytes, problem, tile.vectors)) return 0;
  return static_cast<double>(tile.vectors * problem.vector_bytes);
}

// Cycles that tiles which read a panel of weights again occupy the second cache with a step of it.
// Where all the weights do not fit it, what comes into it takes turns too, once for all tiles. A
// panel that one tile reads comes at the rate of where it is, whatever the tile.
double SecondCacheCycles(const RegisterTileProblem& problem, const RegisterTile& tile,
                         int64_t tiles_of_panel) {
  if (tiles_of_panel == 1) return 0;
  constexpr double kTurnsOfALine = 2;  // that comes into it: asked for, then written
  const int64_t weights_bytes = problem.vectors * problem.vector_bytes * problem.steps;
  const double coming =
      weights_bytes <= problem.l2_bytes ? 0 : kTurnsOfALine / static_cast<double>(tiles_of_panel);
  return (1 + coming) * SecondCacheBytes(problem, tile) / problem.l2_bytes_a_cycle;
}

// The multiply-adds in whose time a step's products of a tile are made.
double MultiplyAddsOf(const RegisterTileProblem& problem, const RegisterTile& tile) {
  return problem.step_multiply_adds * static_cast<double>(tile.rows * tile.columns * tile.vectors);
}

// Cycles of one step of one tile, by the rule.
double RuleStepCycles(const RegisterTileProblem& problem, const RegisterTile& tile,
                      int64_t tiles_of_panel) {
  const double positions = static_cast<double>(tile.rows * tile.columns);
  const double vectors = static_cast<double>(tile.vectors);
  const double step = StepCycles(problem.issue, MultiplyAddsOf(problem, tile), positions + vectors);
  const double second_cache = SecondCacheCycles(problem, tile, tiles_of_panel);
  return std::max(step, second_cache) + kLoopCycles;
}

// As measured, where everything is in the first cache, and what it costs that vectors of panels
// that do not fit it come from the second.
double TileStepCycles(const RegisterTileProblem& problem, const RegisterTile& tile,
                      int64_t tiles_of_panel) {
  const auto measured = problem.times == nullptr
                            ? std::nullopt
                            : problem.times->StepCycles(tile.vectors, tile.rows * tile.columns);
  if (!measured) return RuleStepCycles(problem, tile, tiles_of_panel);
  constexpr double kWaits = 0.0055;  // cycles a byte, measured: most of the time is hidden
  // Micro-kernels multiply float32. Slower products take their own time at least.
  const double issuing = problem.step_multiply_adds > 1
                             ? IssueCycles(problem.issue, MultiplyAddsOf(problem, tile), 0)
                             : 0;
  return std::max(*measured, issuing) + kWaits * SecondCacheBytes(problem, tile);
}

// Cycles a step that columns cost whose lines do not stay in the first cache from one step to the
// next, since there are more of them than lines in the sets that they fall on.
double CrowdedCycles(const RegisterTileProblem& problem, int64_t columns) {
  if (problem.column_bytes == 0 || problem.l1_bytes == 0) return 0;
  // The index of a set lies in a page's offset.
  const int64_t apart = std::gcd(problem.column_bytes, machine::kPageBytes);
  const int64_t lines = std::max<int64_t>(problem.l1_bytes / apart, 1);
  if (columns <= lines) return 0;
  // Measured on Zen 4 (8 lines): of 10, 12 and 14 columns 0.02, 0.1 and 0.25 of the step's cycles.
  constexpr double kLineCycles = 1.25;  // of two multiplications of vectors each
  const double evicted =
      std::min(static_cast<double>(columns - lines) / static_cast<double>(lines), 1.0);
  return kLineCycles * evicted * static_cast<double>(columns) /
         static_cast<double>(problem.steps_at_once);
}

// Whether a part of a panel of so many vectors leaves half of the first cache, and the sums of a
// block of rows of tiles, which all use it before the next part, are not far from it.
bool IsReadByChunks(const RegisterTileProblem& problem, const RegisterTile& tile, int64_t vectors) {
  const int64_t bytes = vectors * problem.vector_bytes;
  const int64_t rows_of_tiles = CeilDiv(CeilDiv(problem.rows, tile.rows), kMostRowBlocks);
  const int64_t sum_bytes = bytes * rows_of_tiles * tile.rows * problem.columns;
  return problem.chunk_steps > 0 && 2 * bytes * problem.chunk_steps <= problem.l1_bytes &&
         sum_bytes <= 2 * problem.l1_bytes;
}

// Cycles that the next vectors of weights of a step take to come, where they come from behind the
// second cache for every tile of positions.
double StreamCycles(const RegisterTileProblem& problem, const RegisterTile& tile, int64_t vectors) {
  if (TilesOfPanel(problem, tile) == 1 || StaysIn(problem.l2_bytes, problem, vectors)) return 0;
  if (IsReadByChunks(problem, tile, vectors)) return 0;
  return static_cast<double>(vectors * problem.vector_bytes) / problem.stream_bytes_a_cycle;
}

double Imbalance(const RegisterTileProblem& problem, const RegisterTile& tile) {
  if (problem.times == nullptr) return 1;
  int64_t shares =
      problem.grid * CeilDiv(problem.vectors, tile.vectors) * CeilDiv(problem.rows, tile.rows);
  if (problem.shares_columns) shares *= CeilDiv(problem.columns, tile.columns);
  return LargestPart(shares, problem.threads);
}

}  // namespace

double StepMultiplyAdds(const machine::IssueRates& issue, ProductKind kind, int64_t dot) {
  if (kind != ProductKind::kBFloat16 || dot == 1) return 1;
  return static_cast<double>(dot) / issue.bfloat16_dot_rate;
}

int64_t TilesOfPanel(const RegisterTileProblem& problem, const RegisterTile& tile) {
  return CeilDiv(problem.rows, tile.rows) * CeilDiv(problem.columns, tile.columns);
}

double TileOverhead(const RegisterTile& tile) {
  return 12 + static_cast<double>(tile.vectors * tile.rows * tile.columns) * 1.5;
}

double TileCycles(const RegisterTileProblem& problem, const RegisterTile& tile) {
  double cycles = 0;
  const int64_t tiles_of_panel = TilesOfPanel(problem, tile);
  for (const auto& [v, nv] : Parts(problem.vectors, tile.vectors)) {
    const double stream = StreamCycles(problem, tile, v);
    for (const auto& [h, nh] : Parts(problem.rows, tile.rows)) {
      for (const auto& [w, nw] : Parts(problem.columns, tile.columns)) {
        const double tiles = static_cast<double>(nv * nh * nw);
        const double computing =
            TileStepCycles(problem, {v, h, w}, tiles_of_panel) + CrowdedCycles(problem, w);
        const double step = std::max(computing, stream);
        cycles += tiles * (static_cast<double>(problem.steps) * step + TileOverhead({v, h, w}));
      }
    }
  }
  return cycles;
}

bool FitsRegisters(const RegisterTile& tile, int64_t registers) {
  return tile.rows * tile.columns * tile.vectors + tile.vectors + 1 <= registers;
}

std::optional<Knob> NextTileKnob(const RegisterTileProblem& problem, const Config& prefix) {
  if (!prefix.Has("tile_v")) return IntKnob("tile_v", VectorOptions(problem));
  const int64_t v = prefix.Int("tile_v");
  if (!prefix.Has("tile_h")) return IntKnob("tile_h", RowOptions(problem, v), 1);
  if (!prefix.Has("tile_w")) {
    return IntKnob("tile_w", ColumnOptions(problem, v, prefix.Int("tile_h")));
  }
  return std::nullopt;
}

RegisterTile TileOf(const Config& config) {
  return {config.Int("tile_v"), config.Int("tile_h"), config.Int("tile_w")};
}

void SetTile(const RegisterTile& tile, Config* config) {
  config->Set("tile_v", tile.vectors);
  config->Set("tile_h", tile.rows);
  config->Set("tile_w", tile.columns);
}

std::vector<int64_t> UnrollOptions(std::initializer_list<int64_t> factors, int64_t extent,
                                   const RegisterTile& tile) {
  std::vector<int64_t> options = {1};
  for (const int64_t unroll : factors) {
    const int64_t emitted = unroll * tile.vectors * tile.rows * tile.columns;
    if (extent % unroll == 0 && emitted <= kMaxEmittedFmas) options.push_back(unroll);
  }
  return options;
}

int64_t FourStepsAtOnce(const std::vector<int64_t>& options, const RegisterTile& tile) {
  constexpr int64_t kMostLoads = 16;
  if (tile.rows * tile.columns == 1 && kStepsAtOnce * tile.vectors > kMostLoads) return options[0];
  int64_t most = options[0];
  for (const int64_t option : options) {
    if (option <= kStepsAtOnce) most = std::max(most, option);
  }
  return most;
}

namespace {

// Tiles of the space that leave so many registers free.
std::vector<RegisterTile> TilesLeaving(int64_t slack, const RegisterTileProblem& problem) {
  std::vector<RegisterTile> tiles;
  for (int64_t v : VectorOptions(problem)) {
    for (int64_t h : RowOptions(problem, v)) {
      for (int64_t w : ColumnOptions(problem, v, h)) {
        const RegisterTile tile{v, h, w};
        if (!FitsRegisters(tile, problem.registers - slack) && h * w > 1) continue;
        tiles.push_back(tile);
      }
    }
  }
  return tiles;
}

// The first of those with the least cycles.
RegisterTile Fastest(const RegisterTileProblem& problem, const std::vector<RegisterTile>& tiles) {
  std::optional<RegisterTile> best;
  double best_cycles = 0;
  for (const RegisterTile& tile : tiles) {
    const double cycles = TileCycles(problem, tile) * Imbalance(problem, tile);
    if (best && cycles >= best_cycles) continue;
    best_cycles = cycles;
    best = tile;
  }
  return *best;
}

// Those about as fast as the fastest: a kernel is more than its micro-kernel. (Tiles of 4 by 6, an
// eighth faster than 2 by 14 while a neighbour shares the core's loads, made ResNet-50 slower.)
std::vector<RegisterTile> Alike(const RegisterTileProblem& problem,
                                const std::vector<RegisterTile>& tiles) {
  constexpr double kAlike = 1.15;
  const auto cycles = [&](const RegisterTile& tile) {
    return TileCycles(problem, tile) * Imbalance(problem, tile);
  };
  const double least = cycles(Fastest(problem, tiles));
  std::vector<RegisterTile> alike;
  for (const RegisterTile& tile : tiles) {
    if (cycles(tile) <= kAlike * least) alike.push_back(tile);
  }
  return alike;
}

}  // namespace

RegisterTile BestTile(const RegisterTileProblem& problem) {
  // A tile that uses all of 32 registers leaves the allocator no slack: it spills. With 16
  // registers, where the tiles that hide the latency of the multiplications take them all, it does
  // not.
  const int64_t slack = problem.registers > 16 ? 1 : 0;
  std::vector<RegisterTile> tiles = TilesLeaving(slack, problem);
  if (tiles.empty()) tiles = TilesLeaving(0, problem);
  if (tiles.empty()) return RegisterTile();
  if (problem.times == nullptr) return Fastest(problem, tiles);
  RegisterTileProblem by_rule = problem;
  by_rule.times = std::make_shared<const MicroKernelTimes>(MicroKernelTimes::ByTile());
  return Fastest(by_rule, Alike(problem, tiles));
}

}  // namespace hone::schedule
