// A rule of CanonicalizeOps: a transposed convolution over one pixel becomes a dense layer.
#ifndef HONE_COMPILER_PASSES_ONE_PIXEL_H_
#define HONE_COMPILER_PASSES_ONE_PIXEL_H_

#include "compiler/ir/expr.h"

namespace hone::passes {

// The dense layer that does the same as the call, with its result reshaped. The call must be a
// transposed convolution without groups whose data has one position and whose result is as large as
// its taps, as image decoders begin with. Lowered as a convolution, most taps of each result
// position would meet padding only; with a single tap nothing is lost. nullptr if `node` is no such
// call, or if its weight is not constant and would have to be transposed in each run.
ir::Expr DenseOfOnePixel(const ir::Expr& node);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_ONE_PIXEL_H_
