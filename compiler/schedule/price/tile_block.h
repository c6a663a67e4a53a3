// The block of sums that stays in tile registers over all steps of a sum, as dense and conv choose
// it: `vectors` of 16 output channels by `tiles` tiles of rows, on each of `lines`.
#ifndef HONE_COMPILER_SCHEDULE_PRICE_TILE_BLOCK_H_
#define HONE_COMPILER_SCHEDULE_PRICE_TILE_BLOCK_H_

#include <cstdint>
#include <optional>

#include "compiler/machine/machine.h"
#include "compiler/schedule/kernel/kernel_view.h"
#include "compiler/schedule/space.h"

namespace hone::schedule {

struct TileBlock {
  int64_t vectors = 1;
  int64_t lines = 1;
  int64_t tiles = 1;
};

struct TileBlockProblem {
  int64_t vectors = 1;  // of the whole output
  int64_t lines = 1;    // of an image, or one
  int64_t rows = 1;     // of a line: its pixels; or of a matrix
  int64_t steps = 1;    // products of tiles that a sum takes
  int64_t grid = 1;     // such problems
  int64_t threads = 1;
  bool shares_rows = false;  // threads share blocks of a line too
};

// Whether the target multiplies such numbers in tiles.
bool HasTiles(const machine::Machine& machine, ProductKind kind);

// Rows of a tile: all tiles of a line have as many, or the last one fewer, but not a single one.
int64_t RowsOfTile(int64_t line_rows);
// Dot products of `dot` terms that a step takes of so many terms: as many as fill a row, or fewer
// where the steps are then even.
int64_t DotsOfStep(int64_t terms, int64_t dot);

// The knobs "block_v", "block_h", "block_r", in this order; nullopt once all are chosen.
std::optional<Knob> NextBlockKnob(const TileBlockProblem& problem, const Config& prefix);
TileBlock BlockOf(const Config& config);
void SetBlock(const TileBlock& block, Config* config);

// The one with the least cycles, as measured on Sapphire Rapids.
TileBlock BestBlock(const TileBlockProblem& problem);
// Its cycles on all threads; to compare strategies.
double BlockCycles(const TileBlockProblem& problem, const TileBlock& block);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRICE_TILE_BLOCK_H_
