#ifndef HONE_COMPILER_PASSES_PRODUCT_ROWS_H_
#define HONE_COMPILER_PASSES_PRODUCT_ROWS_H_

#include "compiler/ir/expr.h"

namespace hone::passes {

// What works element by element on an nn.dense whose rows were reshaped to several axes, as a
// product of a stack by one matrix is, works on its rows and is reshaped behind: so a bias, a
// function or a residual is of the product's kernel, and the reshape stays between kernels, where
// it is nothing. `function` is typed, and so is the result.
ir::Expr ComputeInProductRows(const ir::Expr& function);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_PRODUCT_ROWS_H_
