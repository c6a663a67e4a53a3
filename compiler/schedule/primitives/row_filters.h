// Minimal filtering along the rows of depthwise convolutions.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_ROW_FILTERS_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_ROW_FILTERS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// The buffers between the steps; x counts tiles of results along a row, e the products of one.
struct RowFilterStages {
  Stage filter;   // (c, kh, e): rows of the filters, transformed
  Stage data;     // (n, c, y, x, e): rows of what the windows read, transformed
  Stage product;  // (n, c, h, x, e): the sums over the rows of a window
};

// Takes a stage that fills workspace `buffer` with a two-dimensional depthwise convolution of
// stride and dilation one. Replaces it by F(tile, taps) along its rows, which takes tile + taps - 1
// multiplications instead of tile * taps (Lavin and Gray, arXiv 1509.09308, along one axis). Each
// step is a stage of its own; the last one fills `buffer`:
//   buffer[n, c, h, w] = sum over e of A[w mod tile, e] * product[n, c, h, w div tile, e]
// Every row of the data is transformed once for all rows of results that read it. Rounds
// differently than the direct sum (ToomCook::Amplification). kFailedPrecondition where the stage is
// no such convolution or there are no points for the tile.
absl::StatusOr<RowFilterStages> FilterRows(loop::Nest* nest, const Stage& stage, int64_t tile);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_ROW_FILTERS_H_
