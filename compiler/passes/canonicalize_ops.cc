#include "compiler/passes/canonicalize_ops.h"

#include "compiler/ops/attrs.h"
#include "compiler/ops/typing.h"
#include "compiler/passes/fold_pads.h"
#include "compiler/passes/one_pixel.h"
#include "compiler/passes/product_rows.h"
#include "compiler/passes/rewriting.h"
#include "compiler/passes/scatter_ranges.h"
#include "compiler/passes/unit_axes.h"
#include "compiler/passes/variable_columns.h"

namespace hone::passes {
namespace {

using ir::Expr;

Expr CanonicalizeBias(const ir::ExprNode& call) {
  const auto& shape = call.type->tensor.shape;
  const int rank = static_cast<int>(shape.size());
  const int64_t axis = ops::AxisFromFront(ops::IntAttr(call.attrs, "axis", 1), shape.size());
  return ir::Call("add", {call.args[0], AlongAxis(call.args[1], shape[axis], axis, rank)});
}

bool IsSumOrProduct(const ir::ExprNode& node) {
  return node.kind == ir::ExprKind::kCall && !node.callee &&
         (node.name == "add" || node.name == "multiply");
}

}  // namespace

absl::StatusOr<ir::Module> CanonicalizeOps(const ir::Module& module, const PassContext&) {
  return MapFunctions(module, [](const Expr& function) {
    const Expr joined = JoinScatters(ComputeInProductRows(function));
    return ir::Rewrite(FoldPads(joined), [](const Expr& node) -> Expr {
      if (ir::IsCall(node, "nn.bias_add")) return CanonicalizeBias(*node);
      for (const auto& rule : {DenseOfOnePixel, SoftmaxWithoutUnitAxes, ProductOfVariables}) {
        if (const Expr other = rule(node)) return other;
      }
      if (IsSumOrProduct(*node) && IsConstant(node->args[0]) && !IsConstant(node->args[1])) {
        return ir::WithOperands(node, nullptr, {node->args[1], node->args[0]});
      }
      return node;
    });
  });
}

}  // namespace hone::passes
