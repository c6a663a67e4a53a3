#include "compiler/passes/variable_columns.h"

#include <algorithm>

#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;

bool IsVariable(const Expr& e) {
  return std::ranges::any_of(ir::PostOrder(e),
                             [](const Expr& node) { return node->kind == ir::ExprKind::kVar; });
}

Expr StackOfOne(const Expr& matrix) {
  return ir::Call("expand_dims", {matrix}, {{"axis", int64_t{0}}});
}

}  // namespace

Expr ProductOfVariables(const Expr& node) {
  if (!ir::IsCall(node, "nn.dense") || node->type->tensor.shape.size() != 2) return nullptr;
  const Expr& weight = node->args[1];
  if (!ir::IsCall(weight, "transpose") || !IsVariable(weight) || !IsVariable(node->args[0])) {
    return nullptr;
  }
  const Expr product =
      ir::Call("nn.batch_matmul", {StackOfOne(node->args[0]), StackOfOne(weight)}, node->attrs);
  return ir::Call("reshape", {product}, {{"newshape", node->type->tensor.shape}});
}

}  // namespace hone::passes
