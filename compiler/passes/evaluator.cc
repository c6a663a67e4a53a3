#include "compiler/passes/evaluator.h"

#include "compiler/ops/evaluate.h"
#include "compiler/ops/reshape.h"
#include "support/status.h"

namespace hone::passes {
namespace {

using ir::Expr;

bool IsView(const ir::ExprNode& call) {
  return !call.callee &&
         (ops::OnlyReshapes(call.name) || call.name == "copy" || call.name == "layout_transform");
}

absl::StatusOr<std::vector<Expr>> Evaluate(const Expr& call) {
  if (IsView(*call))
    return std::vector<Expr>{ir::Constant(call->type->tensor, call->args[0]->data)};
  HONE_ASSIGN_OR_RETURN(const Expr value, call->callee
                                              ? ops::EvaluateFunction(call->callee, call->args)
                                              : ops::Evaluate(call));
  return call->type->is_tuple ? value->args : std::vector<Expr>{value};
}

}  // namespace

Evaluator DefaultEvaluator() { return Evaluate; }

}  // namespace hone::passes
