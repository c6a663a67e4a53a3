// A step of CanonicalizeOps: a scatter to a known box of positions joins tensors.
#ifndef HONE_COMPILER_PASSES_SCATTER_RANGES_H_
#define HONE_COMPILER_PASSES_SCATTER_RANGES_H_

#include "compiler/ir/expr.h"

namespace hone::passes {

// `x[a:b, c:d] = updates`, as exporters write it with a table of positions: each scatter_nd and
// scatter_elements (without reduction) whose indices are known and go through a box in order
// becomes the updates and what is around them of the data, concatenated. The function is typed.
ir::Expr JoinScatters(const ir::Expr& function);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_SCATTER_RANGES_H_
