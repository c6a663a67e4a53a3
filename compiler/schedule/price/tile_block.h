// The block of sums that dense and conv keep in the tile registers of a matrix unit (AMX) over all
// steps of a sum: `vectors` vectors of 16 output channels by `tiles` tiles of rows, in each of
// `lines` lines.
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
  int64_t rows = 1;     // of a line, which are its pixels; or of a matrix
  int64_t steps = 1;    // products of tiles that a sum takes
  int64_t grid = 1;     // how many such problems there are
  int64_t threads = 1;
  bool shares_rows = false;  // threads share blocks of a line too
};

// Whether the machine has a matrix unit for products of this kind.
bool HasTiles(const machine::Machine& machine, ProductKind kind);

// How many rows the tiles of a line have. The last tile may have fewer, but not a single row
// (unless the line has one).
int64_t RowsOfTile(int64_t line_rows);
// How many dot products of `dot` terms one step of a sum of `terms` takes: as many as fill a row of
// a tile, or fewer so that all steps are about even.
int64_t DotsOfStep(int64_t terms, int64_t dot);

// The knobs "block_v", "block_h", "block_r", in this order; nullopt once all are chosen.
std::optional<Knob> NextBlockKnob(const TileBlockProblem& problem, const Config& prefix);
TileBlock BlockOf(const Config& config);
void SetBlock(const TileBlock& block, Config* config);

// The block with the least BlockCycles, whose constants were measured on Sapphire Rapids.
TileBlock BestBlock(const TileBlockProblem& problem);
// The cycles of the whole problem on all threads, divided into such blocks; to compare strategies.
double BlockCycles(const TileBlockProblem& problem, const TileBlock& block);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRICE_TILE_BLOCK_H_
