#include "compiler/passes/legalize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "compiler/ops/attrs.h"
#include "compiler/ops/evaluate.h"
#include "compiler/ops/typing.h"
#include "compiler/passes/quantized_arithmetic.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;

size_t RankOf(const Expr& e) { return TypeOf(e).shape.size(); }
bool IsByte(const Expr& e) {
  return TypeOf(e).dtype == DataType::kInt8 || TypeOf(e).dtype == DataType::kUInt8;
}

std::optional<Quantized> OfDequantize(const Expr& e) {
  if (!ir::IsCall(e, "qnn.dequantize")) return std::nullopt;
  Quantized q = {e->args[0], e->args[1], e->args[2], ops::IntAttr(e->attrs, "axis", 1)};
  if (!IsFloat32(q.scale) || RankOf(q.scale) > 1 || RankOf(q.zero_point) > 1) return std::nullopt;
  q.axis = ops::AxisFromFront(q.axis, RankOf(q.data));
  return q;
}

// The integers behind `e`, which may have been moved after they were dequantised.
std::optional<Quantized> AsQuantized(const Expr& e) {
  if (!MovesOrChooses(e)) return OfDequantize(e);
  std::optional<Quantized> q = AsQuantized(e->args[0]);
  if (!q) return q;
  if (!q->IsPerTensor()) {
    if (!ir::IsCall(e, "transpose") || !e->attrs.contains("axes")) return std::nullopt;
    const auto axes = ops::IntsAttr(e->attrs, "axes");
    const auto is_axis = [&](int64_t axis) {
      return ops::AxisFromFront(axis, axes.size()) == q->axis;
    };
    q->axis = std::find_if(axes.begin(), axes.end(), is_axis) - axes.begin();
  }
  q->data = MakeTyped(e->name, {q->data}, e->attrs);
  return q->data ? q : std::nullopt;
}

// The numbers of a tensor that is computed from constants alone.
std::optional<std::vector<float>> Known(const Expr& e) {
  constexpr int64_t kMostElements = 1 << 16;
  for (const Expr& node : ir::PostOrder(e)) {
    const bool known = node->kind == ir::ExprKind::kConstant || node->kind == ir::ExprKind::kCall;
    if (!known || !node->type->IsTensor() || TypeOf(node).ElementCount() > kMostElements) {
      return std::nullopt;
    }
  }
  const Expr wide = IsFloat32(e) ? e : MakeTyped("cast", {e}, {{"dtype", DataType::kFloat32}});
  const absl::StatusOr<Expr> value = ops::Evaluate(wide);
  if (!value.ok()) return std::nullopt;
  std::vector<float> numbers((*value)->data.size_bytes() / sizeof(float));
  std::memcpy(numbers.data(), (*value)->data.bytes(), numbers.size() * sizeof(float));
  return numbers;
}

// Equal but for roundings; one number equals a vector of it.
bool SameNumbers(const Expr& a, const Expr& b) {
  if (a == b) return true;
  constexpr double kTolerance = 1e-6;
  const auto x = Known(a);
  const auto y = Known(b);
  if (!x || !y || x->empty() || y->empty()) return false;
  const size_t count = std::max(x->size(), y->size());
  if ((x->size() != count && x->size() != 1) || (y->size() != count && y->size() != 1))
    return false;
  for (size_t i = 0; i < count; ++i) {
    const double p = (*x)[x->size() == 1 ? 0 : i];
    const double q = (*y)[y->size() == 1 ? 0 : i];
    if (std::abs(p - q) > kTolerance * std::abs(p)) return false;
  }
  return true;
}

bool IsZero(const Expr& e) {
  const auto numbers = Known(e);
  return numbers && std::all_of(numbers->begin(), numbers->end(), [](float x) { return x == 0; });
}

Expr Dequantized(const Expr& sums, const Expr& scale, int64_t axis) {
  const int32_t zero = 0;
  return MakeTyped("qnn.dequantize",
                   {sums, scale, ir::ConstantFromBytes({{}, DataType::kInt32}, &zero)},
                   {{"axis", axis}});
}

// A convolution or product of dequantised operands, as a dequantised sum of integers.
Expr LegalizeProduct(const Expr& call) {
  const std::optional<Quantized> x = AsQuantized(call->args[0]);
  const std::optional<Quantized> w = AsQuantized(call->args[1]);
  if (!x || !w || !IsByte(x->data) || !IsByte(w->data) || !x->IsPerTensor()) return nullptr;
  const bool per_channel = w->axis == 0 && call->name != "nn.batch_matmul";
  if (!w->IsPerTensor() && !per_channel) return nullptr;
  const Expr sums =
      MakeTyped("q" + call->name, {x->data, w->data, x->zero_point, w->zero_point}, call->attrs);
  return Dequantized(sums, MakeTyped("multiply", {w->scale, x->scale}), 1);
}

// A bias that was quantised by the scale of the sums it is added to.
Expr LegalizeBias(const Expr& call) {
  const std::optional<Quantized> sum = OfDequantize(call->args[0]);
  const std::optional<Quantized> bias = OfDequantize(call->args[1]);
  const auto axis = ops::IntAttr(call->attrs, "axis", 1);
  if (!sum || !bias || axis != 1 || sum->axis != 1) return nullptr;
  for (const std::optional<Quantized>& q : {sum, bias}) {
    if (TypeOf(q->data).dtype != DataType::kInt32 || !IsZero(q->zero_point)) return nullptr;
  }
  if (!SameNumbers(sum->scale, bias->scale)) return nullptr;
  return Dequantized(MakeTyped("nn.bias_add", {sum->data, bias->data}, call->attrs), sum->scale, 1);
}

// Sums, products and means of bytes that are quantised at once. Null for anything else.
Expr RequantizedArithmetic(const Expr& real, const Quantized& to) {
  const bool is_sum = ir::IsCall(real, "add");
  if (!is_sum && !ir::IsCall(real, "multiply")) {
    const bool is_mean = real->kind == ir::ExprKind::kCall && !real->callee &&
                         real->name.starts_with("nn.global_avg_pool");
    const std::optional<Quantized> x = is_mean ? AsQuantized(real->args[0]) : std::nullopt;
    return x ? QuantizedMean(*x, to) : nullptr;
  }
  const std::optional<Quantized> x = AsQuantized(real->args[0]);
  const std::optional<Quantized> y = AsQuantized(real->args[1]);
  if (!x || !y) return nullptr;
  return is_sum ? QuantizedSum(*x, *y, to) : QuantizedProduct(*x, *y, to);
}

// The integers `real` stands for, by the scale and the zero point of a quantise behind it; null
// where they must be computed in real numbers.
Expr Requantized(const Expr& real, const Quantized& to) {
  if (ir::IsCall(real, "nn.relu")) {
    return MakeTyped("maximum", {Requantized(real->args[0], to), to.zero_point});
  }
  if (ir::IsCall(real, "clip")) {
    const auto bound = [&](const char* name) {
      return MakeTyped("qnn.quantize",
                       {Scalar(ops::FloatAttr(real->attrs, name, 0), DataType::kFloat32), to.scale,
                        to.zero_point});
    };
    const Expr low = MakeTyped("maximum", {Requantized(real->args[0], to), bound("a_min")});
    return MakeTyped("minimum", {low, bound("a_max")});
  }
  if (Expr result = RequantizedArithmetic(real, to)) return result;
  const std::optional<Quantized> from = AsQuantized(real);
  if (!from) return nullptr;
  if (TypeOf(from->data).dtype == DataType::kInt32) {
    if (!IsZero(from->zero_point)) return nullptr;
    return MakeTyped("qnn.requantize",
                     {from->data, MakeTyped("divide", {from->scale, to.scale}), to.zero_point},
                     {{"axis", from->axis}});
  }
  const bool same =
      from->IsPerTensor() && TypeOf(from->data).dtype == TypeOf(to.zero_point).dtype &&
      SameNumbers(from->scale, to.scale) && SameNumbers(from->zero_point, to.zero_point);
  return same ? from->data : nullptr;
}

Expr LegalizeQuantize(const Expr& call) {
  const Quantized to = {nullptr, call->args[1], call->args[2], 0};
  return to.IsPerTensor() && IsFloat32(call->args[0]) ? Requantized(call->args[0], to) : nullptr;
}

bool IsConvOrMatmul(const Expr& e) {
  static const auto* const ops = new std::set<std::string, std::less<>>{
      "nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.dense", "nn.batch_matmul"};
  return e->kind == ir::ExprKind::kCall && !e->callee && ops->contains(e->name);
}

Expr LegalizeNode(const Expr& node) {
  Expr result;
  if (IsConvOrMatmul(node)) result = LegalizeProduct(node);
  if (ir::IsCall(node, "nn.bias_add")) result = LegalizeBias(node);
  if (ir::IsCall(node, "qnn.quantize")) result = LegalizeQuantize(node);
  return result ? result : node;
}

}  // namespace

absl::StatusOr<ir::Module> Legalize(const ir::Module& module, const PassContext&) {
  return MapFunctions(module,
                      [](const Expr& function) { return ir::Rewrite(function, LegalizeNode); });
}

}  // namespace hone::passes
