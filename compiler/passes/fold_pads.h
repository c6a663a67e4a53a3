// A rule of CanonicalizeOps: what pads for itself gets no padded copy.
#ifndef HONE_COMPILER_PASSES_FOLD_PADS_H_
#define HONE_COMPILER_PASSES_FOLD_PADS_H_

#include "compiler/ir/expr.h"

namespace hone::passes {

// The function with nn.pad taken into the padding of the convolutions and pools that read it, where
// all that read it can take it in (docs/passes.md). Types are inferred, and are of the result.
ir::Expr FoldPads(const ir::Expr& function);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_FOLD_PADS_H_
