// Minimal filtering: Winograd's algorithm for convolutions of stride one.
#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_WINOGRAD_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_WINOGRAD_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/loop/stmt.h"

namespace hone::schedule {

// The buffers between the steps. tile x tile outputs take p * p products, p being tile + 2; e
// counts these, y, x the tiles. Where the convolution has a depth, it stands after the channels (kd
// taps after ic): every step treats its slices alike, and the products are summed over kd too.
struct WinogradStages {
  std::string filter_columns;  // (oc, ic, row of e, kw): columns of the filters, transformed
  std::string filter;          // (e, oc, ic)
  std::string data_columns;    // (n, ic, y, row of e, column of the data)
  std::string data;            // (e, n, ic, y, x)
  std::string product;         // (e, n, oc, y, x): the sums over the input channels
  std::string result_columns;  // (n, oc, row of the result, x, column of e)
};

// Replaces the stage that fills workspace `buffer` with a two-dimensional convolution of 3x3 taps,
// stride and dilation one, or a three-dimensional one that is so in height and width, by F(tile x
// tile, 3x3) of Lavin and Gray (arXiv 1509.09308), each of its steps a stage of its own before the
// last, which fills `buffer`:
//   buffer[n, oc, h, w] = sum over b of A[w mod tile, b] * result_columns[n, oc, h, w div tile, b]
// with the matrices of Toom and Cook for the points 0, 1, -1 (tile 2), and 1/2, -2 (tile 4), which
// of all have the least error. Rounds differently than the direct sum: by about 10 times as much
// with tile 4, less with tile 2. kFailedPrecondition where the stage is no such convolution or the
// tile is neither 2 nor 4.
absl::StatusOr<WinogradStages> Winograd(loop::Nest* nest, const std::string& buffer, int64_t tile);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_WINOGRAD_H_
