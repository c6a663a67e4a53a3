#ifndef HONE_COMPILER_PASSES_PRODUCT_ROWS_H_
#define HONE_COMPILER_PASSES_PRODUCT_ROWS_H_

#include "compiler/ir/expr.h"

namespace hone::passes {

// Moves the reshape of an nn.dense whose rows were reshaped to several axes (as the product of a
// stack by one matrix is imported) behind the elementwise operators that follow. A bias, an
// activation or a residual can then be in the product's kernel, and the reshape stands between
// kernels, where it costs nothing. `function` is typed, and so is the result.
ir::Expr ComputeInProductRows(const ir::Expr& function);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_PRODUCT_ROWS_H_
