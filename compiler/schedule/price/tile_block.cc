#include "compiler/schedule/price/tile_block.h"

#include <algorithm>
#include <vector>

#include "compiler/machine/machine.h"
#include "compiler/schedule/parts.h"

namespace hone::schedule {
namespace {

using machine::kAmxTile;
constexpr int64_t kMost = 6;  // tiles of sums, one register left for each factor

// Sums, and a tile of either factor; rows of two sizes are two kinds of tiles.
bool Fits(const TileBlockProblem& problem, const TileBlock& block) {
  const int64_t rows = RowsOfTile(problem.rows);
  const int64_t tiles = CeilDiv(problem.rows, rows);
  const bool last_differs = problem.rows % rows != 0 && tiles > 1;
  const int64_t factors = last_differs ? 3 : 2;
  return block.vectors * block.lines * block.tiles + factors <= kAmxTile.registers;
}

std::vector<int64_t> UpTo(int64_t extent, const TileBlockProblem& problem, const auto& block_of) {
  std::vector<int64_t> options;
  for (int64_t size = 1; size <= std::min(extent, kMost); ++size) {
    if (Fits(problem, block_of(size))) options.push_back(size);
  }
  return options;
}

std::vector<int64_t> VectorOptions(const TileBlockProblem& problem) {
  return UpTo(problem.vectors, problem, [](int64_t v) { return TileBlock{v, 1, 1}; });
}

std::vector<int64_t> LineOptions(const TileBlockProblem& problem, int64_t vectors) {
  return UpTo(problem.lines, problem, [&](int64_t h) { return TileBlock{vectors, h, 1}; });
}

std::vector<int64_t> TileOptions(const TileBlockProblem& problem, int64_t vectors, int64_t lines) {
  return UpTo(CeilDiv(problem.rows, RowsOfTile(problem.rows)), problem,
              [&](int64_t r) { return TileBlock{vectors, lines, r}; });
}

// The function gives the cycles of one block whose lines have so many rows. A product takes a cycle
// a row (machine::TileShape); most of the loads go on beside it, and what becomes of the sums does
// not. Tiles of the right factor are loaded again for every one of the left where they have not all
// a register.
double CyclesOfBlock(const TileBlockProblem& problem, const TileBlock& block, int64_t line_rows) {
  constexpr double kRightLoad = 11, kStart = 40, kOfRow = 3, kShown = 0.35;
  double products = 0, loads = 0, lefts = 0, rest = kStart;
  for (const auto& [rows, count] : Parts(line_rows, RowsOfTile(problem.rows))) {
    const auto height = static_cast<double>(rows);
    const auto tiles = static_cast<double>(count * block.lines);
    const auto vectors = static_cast<double>(block.vectors);
    products += tiles * vectors * std::max(height, kAmxTile.fewest_product_rows);
    loads += tiles * std::max(4.0, 0.7 * height);
    lefts += tiles;
    rest += tiles * vectors * height * kOfRow;
  }
  const int64_t sums = block.vectors * block.lines * block.tiles;
  const double times = sums + block.vectors + 1 <= kAmxTile.registers ? 1 : lefts;
  loads += static_cast<double>(block.vectors) * kRightLoad * times;
  const double step = std::max(products, loads) + kShown * std::min(products, loads);
  return static_cast<double>(problem.steps) * step + rest;
}

// Shapes of another size of block have to be set, if not all find registers.
double CyclesOfShapes(const TileBlockProblem& problem, const TileBlock& block) {
  constexpr double kSet = 250;
  const int64_t rows = RowsOfTile(problem.rows);
  const int64_t width = rows * block.tiles;
  if (problem.rows % rows == 0 || problem.rows <= width) return 0;
  const int64_t sums = block.vectors * block.lines;
  const int64_t registers = sums * (block.tiles + 1) + 3;
  return registers > kAmxTile.registers ? 2 * kSet : 0;
}

}  // namespace

bool HasTiles(const machine::Machine& machine, ProductKind kind) {
  const machine::MatrixUnit& matrix = machine.matrix;
  return (kind == ProductKind::kBFloat16 && matrix.takes_bfloat16) ||
         (kind == ProductKind::kBytes && matrix.takes_bytes);
}

int64_t RowsOfTile(int64_t line_rows) {
  const int64_t tiles = CeilDiv(line_rows, kAmxTile.rows);
  int64_t rows = CeilDiv(line_rows, std::max<int64_t>(tiles, 1));
  while (rows > 2 && line_rows % rows == 1) --rows;
  return rows;
}

int64_t DotsOfStep(int64_t terms, int64_t dot) {
  const int64_t dots = CeilDiv(terms, dot);
  return CeilDiv(dots, CeilDiv(dots, kAmxTile.rows));
}

std::optional<Knob> NextBlockKnob(const TileBlockProblem& problem, const Config& prefix) {
  if (!prefix.Has("block_v")) return IntKnob("block_v", VectorOptions(problem));
  const int64_t v = prefix.Int("block_v");
  if (!prefix.Has("block_h")) return IntKnob("block_h", LineOptions(problem, v));
  if (!prefix.Has("block_r")) {
    return IntKnob("block_r", TileOptions(problem, v, prefix.Int("block_h")));
  }
  return std::nullopt;
}

TileBlock BlockOf(const Config& config) {
  return {config.Int("block_v"), config.Int("block_h"), config.Int("block_r")};
}

void SetBlock(const TileBlock& block, Config* config) {
  config->Set("block_v", block.vectors);
  config->Set("block_h", block.lines);
  config->Set("block_r", block.tiles);
}

double BlockCycles(const TileBlockProblem& problem, const TileBlock& block) {
  double cycles = 0;
  int64_t shares = 0;
  for (const auto& [v, nv] : Parts(problem.vectors, block.vectors)) {
    for (const auto& [h, nh] : Parts(problem.lines, block.lines)) {
      const int64_t blocks = CeilDiv(problem.rows, block.tiles * RowsOfTile(problem.rows));
      shares += nv * nh * (problem.shares_rows ? blocks : 1);
      double line = CyclesOfShapes(problem, {v, h, block.tiles});
      for (const auto& [r, nr] : Parts(problem.rows, block.tiles * RowsOfTile(problem.rows))) {
        line += static_cast<double>(nr) * CyclesOfBlock(problem, {v, h, block.tiles}, r);
      }
      cycles += static_cast<double>(nv * nh) * line;
    }
  }
  shares *= problem.grid;
  const auto rounds = static_cast<double>(CeilDiv(shares, problem.threads));
  return cycles * static_cast<double>(problem.grid) * rounds / static_cast<double>(shares);
}

TileBlock BestBlock(const TileBlockProblem& problem) {
  TileBlock best;
  double best_cycles = BlockCycles(problem, best);
  for (const int64_t v : VectorOptions(problem)) {
    for (const int64_t h : LineOptions(problem, v)) {
      for (const int64_t r : TileOptions(problem, v, h)) {
        const double cycles = BlockCycles(problem, {v, h, r});
        if (cycles >= best_cycles) continue;
        best_cycles = cycles;
        best = {v, h, r};
      }
    }
  }
  return best;
}

}  // namespace hone::schedule
