// A rule of CanonicalizeOps: a scatter to a known box of positions becomes a concatenation.
#ifndef HONE_COMPILER_PASSES_SCATTER_RANGES_H_
#define HONE_COMPILER_PASSES_SCATTER_RANGES_H_

#include "compiler/ir/expr.h"

namespace hone::passes {

// Exporters write `x[a:b, c:d] = updates` as a scatter with a table of positions. Each scatter_nd
// and scatter_elements without reduction whose indices are constant and run through a box in order
// becomes a concatenation of the updates and of the data around them. The function is typed.
ir::Expr JoinScatters(const ir::Expr& function);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_SCATTER_RANGES_H_
