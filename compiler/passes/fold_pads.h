// A rule of CanonicalizeOps: operators that can pad by themselves take over the nn.pad before them.
#ifndef HONE_COMPILER_PASSES_FOLD_PADS_H_
#define HONE_COMPILER_PASSES_FOLD_PADS_H_

#include "compiler/ir/expr.h"

namespace hone::passes {

// Returns the function with nn.pad merged into the padding of the convolutions and pools that read
// it, if all its readers can take it over (docs/passes.md). `function` has inferred types, and so
// has the result.
ir::Expr FoldPads(const ir::Expr& function);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_FOLD_PADS_H_
