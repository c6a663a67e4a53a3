// A rule of CanonicalizeOps: products of two variable matrices become nn.batch_matmul with a batch
// of one.
#ifndef HONE_COMPILER_PASSES_VARIABLE_COLUMNS_H_
#define HONE_COMPILER_PASSES_VARIABLE_COLUMNS_H_

#include "compiler/ir/expr.h"

namespace hone::passes {

// The nn.batch_matmul, with a batch of one, that does the same as an nn.dense whose data is
// variable and whose weight is the transpose of something variable. Kernels of nn.batch_matmul read
// the right operand where it lies; those of nn.dense expect constant weights, which are packed
// once, and would copy a variable one in every run. nullptr if `node` is no such call. Constant
// data is left to SparsifyConstants.
ir::Expr ProductOfVariables(const ir::Expr& node);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_VARIABLE_COLUMNS_H_
