// A rule of CanonicalizeOps: products of two variable matrices are stacks of one.
#ifndef HONE_COMPILER_PASSES_VARIABLE_COLUMNS_H_
#define HONE_COMPILER_PASSES_VARIABLE_COLUMNS_H_

#include "compiler/ir/expr.h"

namespace hone::passes {

// The nn.batch_matmul of one matrix each that an nn.dense of something variable is, whose
// weight is the transpose of something variable: the stack's kernels read that where it lies, where
// dense layers, whose constant weights are transposed once, would copy all of it at every run.
// nullptr: it is none. (A constant in the place of the data may be sparse: SparsifyConstants.)
ir::Expr ProductOfVariables(const ir::Expr& node);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_VARIABLE_COLUMNS_H_
