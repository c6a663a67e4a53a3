// Evaluates expressions and functions with the interpreter of compiler/loop: what FoldConstant,
// shape computations of importers and tests use. Slow, and right.
#ifndef HONE_COMPILER_OPS_EVALUATE_H_
#define HONE_COMPILER_OPS_EVALUATE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace hone::ops {

// A typed expression of constants as a constant (or a tuple of constants). kInvalidArgument where
// it has variables.
absl::StatusOr<ir::Expr> Evaluate(const ir::Expr& expr);

// A typed function of operator calls on constant arguments, one a parameter.
absl::StatusOr<ir::Expr> EvaluateFunction(const ir::Expr& function,
                                          const std::vector<ir::Expr>& args);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_EVALUATE_H_
