// Evaluates expressions and functions with the interpreter of compiler/loop, for FoldConstant, for
// shape computations in importers and for tests. It is slow, but defines the right result.
#ifndef HONE_COMPILER_OPS_EVALUATE_H_
#define HONE_COMPILER_OPS_EVALUATE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace hone::ops {

// Evaluates a typed expression of constants to a constant (or a tuple of constants).
// kInvalidArgument if it has variables.
absl::StatusOr<ir::Expr> Evaluate(const ir::Expr& expr);

// Evaluates a typed function of operator calls on constant arguments, one for each parameter.
absl::StatusOr<ir::Expr> EvaluateFunction(const ir::Expr& function,
                                          const std::vector<ir::Expr>& args);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_EVALUATE_H_
