// Minimal filtering: Winograd's algorithm for convolutions.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_WINOGRAD_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_WINOGRAD_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// The height or width of a convolution. One of stride s is a convolution of stride one over
// `phases` parts of the data, each of which has every s-th element.
struct WinogradAxis {
  int64_t stride = 1;
  int64_t weight_taps = 1;  // of the weight
  int64_t extent = 1;       // of the result
  int64_t phases = 1;
  int64_t taps = 1;      // of a phase
  int64_t tile = 1;      // results of a tile
  int64_t products = 1;  // of a tile
  int64_t tiles = 1;     // in `extent`

  // An axis of one tap is not transformed: its tiles are single results.
  WinogradAxis(int64_t stride, int64_t weight_taps, int64_t extent, int64_t largest_tile);
  bool IsTransformed() const { return taps > 1; }
  // The number of phases that have all `taps`; they are the first ones.
  int64_t FullPhases() const;
};

// The buffers between the steps. e counts the products of a tile, y, x the tiles. Where the
// convolution has a depth, it stands after the channels (kd taps after ic): every step treats its
// slices alike, and the products are summed over kd too. Where only one of the two axes is
// transformed, there are no stages of columns: they are empty.
struct WinogradStages {
  Stage filter_taps;     // (oc, ic, kh, kw): the filters by phases; empty: the weight itself
  Stage filter_columns;  // (oc, ic, row of e, kw): columns of the filters, transformed
  Stage filter;          // (e, oc, ic)
  Stage data_columns;    // (n, ic, y, row of e, column of the data)
  Stage data;            // (e, n, ic, y, x)
  Stage product;         // (e, n, oc, y, x): the sums over the input channels
  Stage result_columns;  // (n, oc, row of the result, x, column of e)
};

// Where a stride of s makes s phases of an axis, each phase is an input channel of its own: number
// channel * phases + phase (kInside), or phase * channels + channel (kOutside).
enum class PhaseOrder { kInside, kOutside };

// When filters are transformed, and how a row of the transform is chosen then. "Rows are sums":
// each row is a sum of its own, and one of them is left once loops are unrolled. "Rows are
// factors": there is one sum over all taps, and its factors are chosen by the row, for loops that
// are not unrolled.
enum class FilterTransform {
  kBeforehand,        // once; rows are sums
  kAtEveryRun,        // scaled so that there is less to do; rows are factors
  kAtEveryRunByRows,  // scaled too; rows are sums
};

// Takes a stage that fills workspace `buffer` with a convolution of two or three dimensions and of
// dilation one in height and width. Replaces it by F(tile, taps) of Lavin and Gray (arXiv
// 1509.09308) along each of these two axes that has more than one tap. Each step is a stage of its
// own; the last one fills `buffer`:
//   buffer[n, oc, h, w] = sum over b of A[w mod tile, b] * result_columns[n, oc, h, w div tile, b]
// A stride of s makes it one of stride one and ceil(taps / s) taps over the s * s phases of the
// data, some of these taps zero. Rounds differently than the direct sum (ToomCook::Amplification).
// kFailedPrecondition where the stage is no such convolution or there are no points for the tile.
absl::StatusOr<WinogradStages> Winograd(loop::Nest* nest, const Stage& stage, int64_t tile,
                                        PhaseOrder phase_order = PhaseOrder::kOutside,
                                        FilterTransform filters = FilterTransform::kBeforehand);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_WINOGRAD_H_
