#include "compiler/passes/fold_scale_axis.h"

#include <cstring>
#include <unordered_map>

#include "compiler/ops/attrs.h"
#include "compiler/passes/fold_constant.h"
#include "compiler/passes/infer_type.h"
#include "compiler/passes/rewriting.h"
#include "support/status.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

// Where the output channels of an operator with weights are; -1: not of the known form.
int64_t ChannelAxis(const ir::ExprNode& call) {
  if (call.kind != ExprKind::kCall || call.callee || !call.type) return -1;
  const auto rank = static_cast<int64_t>(call.type->tensor.shape.size());
  if (call.name == "nn.dense") return rank - 1;
  if (call.name != "nn.conv1d" && call.name != "nn.conv2d" && call.name != "nn.conv3d") return -1;
  for (const char* layout : {"data_layout", "kernel_layout"}) {
    const std::string text = ops::StringAttr(call.attrs, layout, "");
    const bool channels_first = text.empty() || text.starts_with("NC") || text.starts_with("OI");
    if (!channels_first) return -1;
  }
  return 1;
}

// Whether a constant of this shape differs along `axis` of a result of `rank` only.
bool VariesAlongOnly(const ir::TensorType& constant, int64_t axis, size_t rank) {
  if (constant.shape.size() > rank) return false;
  const size_t missing = rank - constant.shape.size();
  for (size_t i = 0; i < constant.shape.size(); ++i) {
    if (static_cast<int64_t>(missing + i) != axis && constant.shape[i] != 1) return false;
  }
  return true;
}

// weight[o, ...] * scale[o] (or * scale[0]); weights are large, so not by the evaluator.
Expr ScaleRows(const Expr& weight, const Expr& scale) {
  const ir::TensorType& type = weight->type->tensor;
  const int64_t rows = type.shape[0];
  const int64_t row = type.ElementCount() / std::max<int64_t>(rows, 1);
  const int64_t scales = scale->type->tensor.ElementCount();
  const std::shared_ptr<float[]> scaled(new float[static_cast<size_t>(rows * row + 1)]);
  const size_t row_bytes = static_cast<size_t>(row) * sizeof(float);
  float* target = scaled.get();
  for (int64_t o = 0; o < rows; ++o, target += row) {
    float factor = 0;
    std::memcpy(&factor, scale->data.bytes + (scales == 1 ? 0 : o) * 4, sizeof(factor));
    // Constants may lie at any address.
    std::memcpy(target, weight->data.bytes + static_cast<size_t>(o) * row_bytes, row_bytes);
    for (int64_t i = 0; i < row; ++i) target[i] *= factor;
  }
  const auto* data = reinterpret_cast<const uint8_t*>(scaled.get());
  return ir::Constant(type, {scaled, data, weight->data.size_bytes});
}

class Folder {
 public:
  Expr Fold(const Expr& function) {
    const std::vector<Expr> order = ir::PostOrderOutside(function);
    std::unordered_map<const ir::ExprNode*, int> uses;
    for (const Expr& node : order) {
      for (const Expr& arg : node->args) ++uses[arg.get()];
    }
    std::unordered_map<const ir::ExprNode*, Expr> done;
    for (const Expr& node : order) {
      if (node->kind == ExprKind::kFunction && node != function) {
        done[node.get()] = node;
        continue;
      }
      std::vector<Expr> args;
      for (const Expr& arg : node->args) args.push_back(done.at(arg.get()));
      const Expr callee = node->callee ? done.at(node->callee.get()) : nullptr;
      const Expr result = Visit(ir::WithOperands(node, callee, std::move(args)));
      uses_[result.get()] += uses[node.get()];
      done[node.get()] = result;
    }
    return done.at(function.get());
  }

 private:
  // Nodes made here have one user.
  bool UsedOnce(const Expr& e) const {
    const auto it = uses_.find(e.get());
    return it == uses_.end() || it->second <= 1;
  }

  Expr Visit(const Expr& node) {
    const bool binary = ir::IsCall(node, "multiply") || ir::IsCall(node, "add");
    if (!binary || !IsConstant(node->args[1]) || !IsFloat(node->args[1]->type->tensor.dtype)) {
      return node;
    }
    if (node->name == "add") return MergeAdds(node);
    const Expr scaled = Scale(node->args[0], node->args[1]);
    return scaled ? scaled : node;
  }

  // (x + a) + b = x + (a + b), where that makes no larger constant.
  Expr MergeAdds(const Expr& outer) const {
    const Expr& inner = outer->args[0];
    if (!ir::IsCall(inner, "add") || !IsConstant(inner->args[1]) || !UsedOnce(inner)) return outer;
    const auto& a = inner->args[1]->type->tensor.shape;
    const auto& b = outer->args[1]->type->tensor.shape;
    const bool one_shape = a == b || a.empty() || b.empty();
    if (!one_shape || !inner->type || *inner->type != *outer->type) return outer;
    const Expr sum = ir::Call("add", {inner->args[1], outer->args[1]});
    return ir::WithOperands(outer, nullptr, {inner->args[0], sum});
  }

  // `e * scale` without the multiplication; null where it cannot be.
  Expr Scale(const Expr& e, const Expr& scale) const {
    if (!UsedOnce(e)) return nullptr;
    if (ir::IsCall(e, "add") && e->type && IsConstantExpr(e->args[1])) {
      const Expr scaled = Scale(e->args[0], scale);
      if (!scaled) return nullptr;
      return ir::WithOperands(e, nullptr, {scaled, ir::Call("multiply", {e->args[1], scale})});
    }
    const int64_t axis = ChannelAxis(*e);
    if (axis < 0 || e->args.size() != 2 || !IsConstant(e->args[1])) return nullptr;
    const ir::TensorType& type = scale->type->tensor;
    const ir::TensorType& weight = e->args[1]->type->tensor;
    // A scale of more channels than the operator has would make more of them.
    const int64_t scales = type.ElementCount();
    const bool fits = VariesAlongOnly(type, axis, e->type->tensor.shape.size()) &&
                      (scales == 1 || scales == weight.shape[0]);
    const bool float32 = type.dtype == DataType::kFloat32 && weight.dtype == DataType::kFloat32;
    if (!fits || !float32) return nullptr;
    return ir::WithOperands(e, nullptr, {e->args[0], ScaleRows(e->args[1], scale)});
  }

  // Constants, and the sums made above of them.
  static bool IsConstantExpr(const Expr& e) {
    if (IsConstant(e)) return true;
    if (!ir::IsCall(e, "add") && !ir::IsCall(e, "multiply")) return false;
    return IsConstantExpr(e->args[0]) && IsConstantExpr(e->args[1]);
  }

  std::unordered_map<const ir::ExprNode*, int> uses_;
};

}  // namespace

// One round moves multiplications; once constants are folded, the next can merge what they were
// between.
absl::StatusOr<ir::Module> FoldScaleAxis(const ir::Module& module, const PassContext& context) {
  constexpr int kMaxRounds = 4;
  ir::Module current = module;
  for (int round = 0; round < kMaxRounds; ++round) {
    const ir::Module folded =
        MapFunctions(current, [](const Expr& function) { return Folder().Fold(function); });
    if (folded.functions == current.functions) break;
    HONE_ASSIGN_OR_RETURN(const ir::Module typed, InferTypes(folded));
    HONE_ASSIGN_OR_RETURN(current, FoldConstant(typed, context));
  }
  return current;
}

}  // namespace hone::passes
