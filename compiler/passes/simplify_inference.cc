#include "compiler/passes/simplify_inference.h"

#include "compiler/ops/attrs.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Call;
using ir::Expr;

// data * scale + shift, with scale = gamma / sqrt(variance + epsilon), shift = beta - mean * scale.
Expr SimplifyBatchNorm(const ir::ExprNode& call) {
  const Expr& data = call.args[0];
  const Expr& mean = call.args[3];
  const Expr& variance = call.args[4];
  const ir::TensorType& type = variance->type->tensor;
  const int rank = static_cast<int>(call.type->tensor.shape.size());
  const int64_t axis = ops::IntAttr(call.attrs, "axis", 1);
  const Expr epsilon = Scalar(ops::FloatAttr(call.attrs, "epsilon", 1e-5), type.dtype);

  Expr scale = Call("rsqrt", {Call("add", {variance, epsilon})});
  if (ops::BoolAttr(call.attrs, "scale", true)) scale = Call("multiply", {call.args[1], scale});
  Expr shift = Call("negative", {Call("multiply", {mean, scale})});
  if (ops::BoolAttr(call.attrs, "center", true)) shift = Call("add", {call.args[2], shift});

  const Expr scaled = Call("multiply", {data, AlongAxis(scale, type.shape[0], axis, rank)});
  return Call("add", {scaled, AlongAxis(shift, type.shape[0], axis, rank)});
}

}  // namespace

absl::StatusOr<ir::Module> SimplifyInference(const ir::Module& module, const PassContext&) {
  return MapFunctions(module, [](const Expr& function) {
    return ir::Rewrite(function, [](const Expr& node) -> Expr {
      if (ir::IsCall(node, "nn.batch_norm")) return SimplifyBatchNorm(*node);
      if (ir::IsCall(node, "nn.dropout") || ir::IsCall(node, "copy")) return node->args[0];
      return node;
    });
  });
}

}  // namespace hone::passes
