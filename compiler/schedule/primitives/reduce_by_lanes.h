#ifndef HONE_COMPILER_SCHEDULE_PRIMITIVES_REDUCE_BY_LANES_H_
#define HONE_COMPILER_SCHEDULE_PRIMITIVES_REDUCE_BY_LANES_H_

#include "absl/status/status.h"
#include "compiler/loop/stmt.h"
#include "compiler/schedule/primitives/stage.h"

namespace hone::schedule {

// Computes partial results of a reduction in the lanes of `vectors` vectors. At the end they are
// combined, one half of them with the other half until one is left:
//   for r { c[x] = c[x] op f(r) }
//   =>  alloc p[vectors * lanes] { p[j] = neutral of op;
//         for r { for j { p[j] = p[j] op f(r * vectors * lanes + j) } }; the rest likewise;
//         p[j] = p[j] op p[j + half] ..; c[x] = c[x] op p[0] }
// `loop` is the innermost loop of the reduction, around that store alone; op is +, *, min or max.
// Its new inner loops are vectorised and unrolled. Results are those of another order of summation
// (docs/decisions/0002). kFailedPrecondition where the loop has another form, or x depends on r.
//
// `loop` may compute a tile of several results: between it and the store there may be loops over
// elements of c, each with a constant bound. Then every element has partial results, p[x, j], and
// each of the steps above goes through the whole tile. The loops "x" keep their names in the main
// step; their copies in the other steps are "x_zero", "x_rest" and so on.
//
// `drops_nan` says that a NaN need not reach c[x] through a min or max, since whoever reads c[x]
// meets the NaN in another way. Then a comparison chooses the value, which is one instruction on
// x86.
absl::Status ReduceByLanes(loop::Nest* nest, const Loop& loop, int64_t lanes, int64_t vectors,
                           bool drops_nan = false);

}  // namespace hone::schedule

#endif  // HONE_COMPILER_SCHEDULE_PRIMITIVES_REDUCE_BY_LANES_H_
