// Sums of which the warps of a block compute tiles in tensor cores
// (docs/decisions/0040-warps-do-tile-operations.md): factors are copied to memory that the block's
// threads share, some terms of the sums at a time, with neighbouring terms as neighbours; each warp
// keeps its tiles of sums, which go through shared memory to what follows the sums.
#ifndef HONE_COMPILER_SCHEDULE_GENERIC_WARP_TILE_SCHEDULE_H_
#define HONE_COMPILER_SCHEDULE_GENERIC_WARP_TILE_SCHEDULE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/machine/tensor_cores.h"
#include "compiler/schedule/generic/grid_sums.h"
#include "compiler/schedule/price/warp_block.h"
#include "compiler/schedule/primitives/compute_at.h"
#include "compiler/schedule/rewrite/sequence.h"

namespace hone::schedule {

// The axes of the results along which the tiles of the tensor cores lie.
struct WarpAxes {
  size_t rows = 0;  // along which one factor changes
  // Along which the other factor changes: the last such axis, or the columns of an image whose
  // channels are last.
  size_t lanes = 0;
  // One more axis along which the factor of the lanes changes, and the other does not: the lines of
  // an image.
  std::optional<size_t> lines;
  size_t step_loop = 0;           // the loop of the sums whose steps are neighbouring terms
  std::vector<size_t> term_dims;  // of each factor, the dimension that the loop goes through
  // Whether neighbouring terms of each factor are neighbours in memory where they are copied from,
  // so that a thread copies several at once.
  std::vector<bool> has_terms_last;
  // For each axis, whether blocks may reach beyond its end: what they copy there is zeros.
  std::vector<bool> has_tail;
  int64_t element_bytes = 2;  // of both factors

  bool IsFloat32() const { return element_bytes == 4; }
  // The axis along which the sums are neighbours where threads read them for the results: the last
  // one of the two, which is the last of the results, too, so that they read in its order.
  size_t StoredLast() const { return std::max(rows, lanes); }
  // Terms of 16 bytes, which a thread copies at once and ldmatrix loads as a row.
  int64_t TermsAtOnce() const { return 16 / element_bytes; }

  // The same axes of the sums' parts, which have one more in front (SplitSums).
  WarpAxes OfParts() const;
};
// nullopt where the sums' terms are no products of two factors that the tensor cores take, with
// such axes. `splits_float32`: they also take two of float32
// (docs/decisions/0046-float32-on-tensor-cores.md).
std::optional<WarpAxes> WarpAxesOf(const GridSums& sums, const loop::Nest& nest,
                                   const machine::TensorCores& cores, bool splits_float32 = false);

// A block has at least two warps.
struct WarpTile {
  int64_t rows = 16;         // of a warp
  int64_t lanes = 8;         // of a warp
  int64_t warps_rows = 1;    // of a block, along the rows; divide the axis with `rows`, or cover it
  int64_t warps_lanes = 1;   // the same along the lanes
  int64_t warps_lines = 1;   // of a block, along the lines, which they divide
  int64_t steps = 16;        // that are copied at once; divide the loop, or cover it with zeros
  int64_t slots = 1;         // of each copy; more than one: copies run ahead in the background
  int64_t slots_behind = 0;  // of them: not copied to yet, for products that may be under way
  // Elements behind each copied row of terms, so that the rows of a matrix lie in different banks;
  // rows stay aligned for loads of 16 bytes.
  int64_t term_slack = 8;

  int64_t Threads() const;
  int64_t SumsOfThread() const;
  std::vector<int64_t> BlockExtents(const GridSums& sums, const WarpAxes& axes) const;
};

// The memory that a block shares, in bytes. The sums of its warps lie where the copies of the
// factors lay before.
struct WarpTileBytes {
  int64_t copies = 0;  // in one slot
  int64_t slots = 0;   // in all slots
  int64_t sums = 0;
  int64_t loads = 0;  // how many loads of all threads fill a slot

  int64_t AtOnce() const { return std::max(slots, sums); }
};
WarpTileBytes SharedBytesOf(const GridSums& sums, const WarpAxes& axes, const WarpTile& tile);

// What the launch does, for WarpBlockCycles. `parts` blocks share each sum: together they fill
// `copies` slots for it.
WarpBlocks WorkOf(const GridSums& sums, const WarpAxes& axes, const WarpTile& tile, int64_t copies,
                  int64_t parts);

// Schedules the sums' launch, with its grid and its threads. `stages`: the factors that stages of
// the nest fill, which are computed where others are copied.
void TileByWarps(Sequence* s, const GridSums& sums, const WarpAxes& axes,
                 const std::set<std::string>& stages, const WarpTile& tile);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_GENERIC_WARP_TILE_SCHEDULE_H_
