#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_REDUCE_BY_LANES_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_REDUCE_BY_LANES_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Gives the lanes of `vectors` vectors partial results of a reduction, which are combined at its
// end, halves with halves:
//   for r { c[x] = c[x] op f(r) }
//   =>  alloc p[vectors * lanes] { p[j] = neutral of op;
//         for r { for j { p[j] = p[j] op f(r * vectors * lanes + j) } }; the rest likewise;
//         p[j] = p[j] op p[j + half] ..; c[x] = c[x] op p[0] }
// `loop` is the innermost loop of the reduction, around that store alone; op is +, *, min or max.
// Its new inner loops are vectorised and unrolled. Results are those of another order of summation
// (docs/decisions/0002). kFailedPrecondition where the loop is not so, or c[x] depends on it.
//
// Several results at once: there may be loops over elements of c, a tile, around that store inside
// of `loop`, each with a constant bound. Then every element has partial results, p[x, j], and each
// step of the above is around the tile: loops "x", their copies of the other steps "x_zero",
// "x_rest" and so on.
//
// `drops_nan`: of a min or max, NaN need not reach c[x], since whoever reads it meets the NaN in
// another way; then the value is chosen by a comparison, which x86 has as one instruction.
absl::Status ReduceByLanes(loop::Nest* nest, const Loop& loop, int64_t lanes, int64_t vectors,
                           bool drops_nan = false);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_REDUCE_BY_LANES_H_
