#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_SHARE_BY_OFFSETS_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_SHARE_BY_OFFSETS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// The work that the shares divide evenly: all `elements` of the matrix, and `row_elements` more for
// each row, at least 1, which stand for the work that is done once a row.
struct ShareWork {
  int64_t elements = 0;
  int64_t row_elements = 1;
};

// Divides the iterations of a parallel loop over the rows of a sparse matrix into shares of about
// equal work:
//   parallel i in 0..rows {S(i)}
//   =>  prepare: parallel s in 0..shares + 1 {x[s] = how many rows come before share s}
//       parallel i.share in 0..shares { for i in x[i.share]..x[i.share + 1] {S(i)} }
// Row i has the elements from offsets[i] to offsets[i + 1] and belongs to the share in which its
// middle lies. So a share exceeds the mean by at most half of its first row and half of its last.
// Counting takes log2(rows) steps a share. Whatever the offsets hold, each row is in exactly one
// share; where they do not ascend, shares are less even. x is named "<offsets>.shares".
//
// kFailedPrecondition where the loop is not parallel, or not the innermost of the parallel ones,
// does not count a constant number of rows from 0, or where `offsets` are not integers, one more
// than rows, that are known before the run: constants or prepared ones. kInvalidArgument for no
// shares, `row_elements` out of range, or numbers too large to multiply.
absl::Status ShareByOffsets(loop::Nest* nest, const Loop& loop, const std::string& offsets,
                            const ShareWork& work, int64_t shares);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_SHARE_BY_OFFSETS_H_
