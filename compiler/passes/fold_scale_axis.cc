#include "compiler/passes/fold_scale_axis.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "compiler/ops/attrs.h"
#include "compiler/passes/fold_constant.h"
#include "compiler/passes/infer_type.h"
#include "compiler/passes/rewriting.h"
#include "compiler/passes/scaled_weights.h"
#include "support/status.h"

namespace hone::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

// A constant factor per channel (or one for all) of what it multiplies.
struct Scale {
  Expr factors;
  bool positive = false;
};

Scale ScaleOf(const Expr& factors) {
  Scale scale{.factors = factors, .positive = true};
  const int64_t count = factors->type->tensor.ElementCount();
  for (int64_t i = 0; i < count; ++i) {
    float factor = 0;
    std::memcpy(&factor, factors->data.bytes() + static_cast<size_t>(i) * sizeof(factor),
                sizeof(factor));
    scale.positive &= factor > 0;
  }
  return scale;
}

// Whether a factor of this shape, multiplied with a tensor of `rank`, is one number or one for each
// of the `channels` along `axis`: more would make more channels.
bool IsPerChannel(const Expr& factors, int64_t axis, int64_t channels, size_t rank) {
  const std::vector<int64_t>& shape = factors->type->tensor.shape;
  if (shape.size() > rank) return false;
  const auto missing = static_cast<int64_t>(rank - shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (missing + static_cast<int64_t>(i) != axis && shape[i] != 1) return false;
  }
  const int64_t count = factors->type->tensor.ElementCount();
  return count == 1 || count == channels;
}

bool IsFloatFactor(const Expr& e) {
  return IsConstant(e) && e->type->tensor.dtype == DataType::kFloat32;
}

// An operator of one operand, channel by channel, that a factor may stand before as well as behind.
bool Commutes(const Expr& e, const Scale& scale) {
  if (e->kind != ExprKind::kCall || e->callee || e->args.size() != 1) return false;
  if (e->name == "nn.relu" || e->name == "nn.leaky_relu") return scale.positive;
  const bool pool = e->name.starts_with("nn.") && e->name.find("_pool") != std::string::npos;
  if (!pool || !ops::StringAttr(e->attrs, "layout", "NC").starts_with("NC")) return false;
  if (e->name.find("avg_pool") != std::string::npos) return true;
  return scale.positive && e->name.find("max_pool") != std::string::npos && !e->type->is_tuple;
}

bool IsPool(const Expr& e) { return e->name.find("_pool") != std::string::npos; }

// One walk through a function, operands first.
class Folder {
 public:
  explicit Folder(const UsedOnce& used_once) : used_once_(used_once) {}

  Expr Visit(const Expr& node) {
    if (!node->type || node->kind != ExprKind::kCall) return node;
    if (ir::IsCall(node, "add")) return MergeAdds(node);
    if (ir::IsCall(node, "multiply")) return Backward(node);
    return Forward(node);
  }

 private:
  // (x + a) + b = x + (a + b), where that makes no larger constant.
  Expr MergeAdds(const Expr& outer) const {
    const Expr& inner = outer->args[0];
    const bool constants = IsConstant(outer->args[1]) && IsFloat(outer->type->tensor.dtype) &&
                           ir::IsCall(inner, "add") && IsConstant(inner->args[1]);
    if (!constants || !used_once_(inner)) return outer;
    const auto& a = inner->args[1]->type->tensor.shape;
    const auto& b = outer->args[1]->type->tensor.shape;
    const bool one_shape = a == b || a.empty() || b.empty();
    if (!one_shape || !inner->type || *inner->type != *outer->type) return outer;
    const Expr sum = ir::Call("add", {inner->args[1], outer->args[1]});
    return ir::WithOperands(outer, nullptr, {inner->args[0], sum});
  }

  // A multiplication moves into the weights of what computed its operand.
  Expr Backward(const Expr& multiply) {
    if (!IsFloatFactor(multiply->args[1])) return multiply;
    const Scale scale = ScaleOf(multiply->args[1]);
    return Takes(multiply->args[0], scale) ? Scaled(multiply->args[0], scale) : multiply;
  }

  // Whether `e * scale` needs no multiplication.
  bool Takes(const Expr& e, const Scale& scale) const {
    if (!used_once_(e) || !e->type) return false;
    if (ir::IsCall(e, "add")) {
      if (IsConstantExpr(e->args[1])) return Takes(e->args[0], scale);
      // One node twice is used twice. A term of another shape has its channels elsewhere.
      return HasTypeOf(e->args[0], e) && HasTypeOf(e->args[1], e) && Takes(e->args[0], scale) &&
             Takes(e->args[1], scale);
    }
    if (Commutes(e, scale)) {
      return (!IsPool(e) || IsAlongChannels(scale, e)) && Takes(e->args[0], scale);
    }
    Weighted weighted;
    return IsWeighted(e, &weighted) &&
           IsPerChannel(scale.factors, weighted.output_axis, weighted.output_channels,
                        e->type->tensor.shape.size());
  }

  // `e * scale` without the multiplication.
  Expr Scaled(const Expr& e, const Scale& scale) {
    if (ir::IsCall(e, "add")) {
      const Expr other = IsConstantExpr(e->args[1])
                             ? ir::Call("multiply", {e->args[1], scale.factors})
                             : Scaled(e->args[1], scale);
      return ir::WithOperands(e, nullptr, {Scaled(e->args[0], scale), other});
    }
    if (e->args.size() == 1) return ir::WithOperands(e, nullptr, {Scaled(e->args[0], scale)});
    return ir::WithOperands(e, nullptr, {e->args[0], ScaleOutputs(e->args[1], scale.factors)});
  }

  // Pools mix positions: only factors along axis 1 pass them.
  static bool IsAlongChannels(const Scale& scale, const Expr& pool) {
    const std::vector<int64_t>& shape = pool->type->tensor.shape;
    return shape.size() > 1 && IsPerChannel(scale.factors, 1, shape[1], shape.size());
  }

  static bool HasTypeOf(const Expr& a, const Expr& b) { return a->type && *a->type == *b->type; }

  // A multiplication before an operator with weights, perhaps with others between, moves into them.
  Expr Forward(const Expr& call) {
    Weighted weighted;
    if (!IsWeighted(call, &weighted)) return call;
    std::vector<Expr> between;
    Expr e = call->args[0];
    const Scale any{.factors = nullptr, .positive = true};
    while (used_once_(e) && Commutes(e, any)) {
      between.push_back(e);
      e = e->args[0];
    }
    if (!ir::IsCall(e, "multiply") || !used_once_(e) || !IsFloatFactor(e->args[1])) return call;
    const Expr& data = e->args[0];
    const Scale scale = ScaleOf(e->args[1]);
    const size_t rank = call->args[0]->type->tensor.shape.size();
    const bool fits =
        data->type && e->type && *data->type == *e->type &&
        IsPerChannel(scale.factors, weighted.input_axis, weighted.input_channels, rank);
    const bool passes = std::all_of(between.begin(), between.end(), [&](const Expr& step) {
      return Commutes(step, scale) && (!IsPool(step) || IsAlongChannels(scale, step));
    });
    if (!fits || !passes) return call;
    Expr value = data;
    for (auto step = between.rbegin(); step != between.rend(); ++step) {
      value = ir::WithOperands(*step, nullptr, {value});
    }
    return ir::WithOperands(call, nullptr,
                            {value, ScaleInputs(call->args[1], scale.factors, weighted.groups)});
  }

  // Constants, and the sums and products made above of them.
  static bool IsConstantExpr(const Expr& e) {
    if (IsConstant(e)) return true;
    if (!ir::IsCall(e, "add") && !ir::IsCall(e, "multiply")) return false;
    return IsConstantExpr(e->args[0]) && IsConstantExpr(e->args[1]);
  }

  const UsedOnce& used_once_;
};

}  // namespace

// One round moves multiplications; once constants are folded, the next can merge what they were
// between.
absl::StatusOr<ir::Module> FoldScaleAxis(const ir::Module& module, const PassContext& context) {
  constexpr int kMaxRounds = 4;
  const auto fold = [](const Expr& node, const UsedOnce& used_once) {
    return Folder(used_once).Visit(node);
  };
  ir::Module current = module;
  for (int round = 0; round < kMaxRounds; ++round) {
    const ir::Module folded =
        MapFunctions(current, [&](const Expr& function) { return RewriteCounted(function, fold); });
    if (folded.functions == current.functions) break;
    HONE_ASSIGN_OR_RETURN(const ir::Module typed, InferTypes(folded));
    HONE_ASSIGN_OR_RETURN(current, FoldConstant(typed, context));
  }
  return current;
}

}  // namespace hone::passes
