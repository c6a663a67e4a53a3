// A rule of CanonicalizeOps: a transposed convolution over one pixel is a dense layer.
#ifndef HONE_COMPILER_PASSES_ONE_PIXEL_H_
#define HONE_COMPILER_PASSES_ONE_PIXEL_H_

#include "compiler/ir/expr.h"

namespace hone::passes {

// The dense layer that the call is, its result reshaped: of a transposed convolution without groups
// whose data has one position and whose result is as large as its taps, as decoders begin with.
// (Seen as a convolution, each of its positions meets one tap of the data and others of padding;
// of one tap there is no such loss, and what is behind a convolution fuses with it.)
// nullptr: it is none, or its weight is no constant, which would have to be transposed in each run.
ir::Expr DenseOfOnePixel(const ir::Expr& node);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_ONE_PIXEL_H_
