#include "compiler/passes/split_zero_points.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "compiler/ops/attrs.h"
#include "compiler/passes/byte_tensor.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;
using Ints = std::vector<int64_t>;

bool IsScalar(const Expr& e) { return ShapeOf(e).empty(); }
Expr AsInt32(const Expr& e) { return Cast(e, DataType::kInt32); }

// ---- the signs that dot products take ----

enum class Sign { kAny, kUnsigned, kSigned };
struct Signs {
  Sign data = Sign::kAny;
  Sign weight = Sign::kAny;
};

Signs SignsFor(const Target& target) {
  const CpuTarget* const cpu = target.AsCpu();
  if (cpu == nullptr) return {};
  if (cpu->Has("avx512vnni") || cpu->Has("avxvnni")) return {Sign::kUnsigned, Sign::kSigned};
  if (cpu->Has("dotprod") && !cpu->Has("i8mm")) return {Sign::kSigned, Sign::kSigned};
  return {};
}

bool IsByte(DataType dtype) { return dtype == DataType::kInt8 || dtype == DataType::kUInt8; }

bool Differs(DataType dtype, Sign sign) {
  return IsByte(dtype) && sign != Sign::kAny &&
         (dtype == DataType::kInt8) != (sign == Sign::kSigned);
}

// A byte's other reading: 128 more or less, which is its highest bit.
Expr Flipped(const Expr& bytes) {
  const DataType to = DtypeOf(bytes) == DataType::kInt8 ? DataType::kUInt8 : DataType::kInt8;
  if (IsConstant(bytes)) return FlipSigns(bytes);
  return MakeTyped("bitwise_xor", {MakeTyped("cast", {bytes}, {{"dtype", to}}),
                                   Scalar(to == DataType::kInt8 ? -128 : 128, to)});
}

// What Flipped made this of; null where it is something else.
Expr Unflipped(const Expr& e) {
  if (!ir::IsCall(e, "bitwise_xor") || !ir::IsCall(e->args[0], "cast")) return nullptr;
  const Expr& bytes = e->args[0]->args[0];
  const bool from_other =
      IsByte(DtypeOf(bytes)) && IsByte(DtypeOf(e)) && DtypeOf(bytes) != DtypeOf(e);
  const std::optional<Ints> mask = KnownInts(e->args[1]);
  const bool flips = mask && IsScalar(e->args[1]) && ((*mask)[0] & 0xFF) == 128;
  return from_other && flips ? bytes : nullptr;
}

Expr Flip(const Expr& bytes) {
  const Expr original = Unflipped(bytes);
  return original ? original : Flipped(bytes);
}

// ---- products ----

struct ZeroPointProduct {
  Expr call;
  Expr data, weight, data_zero, weight_zero;
  bool is_conv = false;
  int64_t groups = 1;
};

// The axes of the weight that are summed over.
Ints SummedAxes(const ZeroPointProduct& p) {
  Ints axes(ShapeOf(p.weight).size());
  std::iota(axes.begin(), axes.end(), 0);
  if (!p.is_conv) return {axes.back()};
  axes.erase(axes.begin());
  return axes;
}

int64_t Terms(const ZeroPointProduct& p) {
  int64_t count = 1;
  for (int64_t axis : SummedAxes(p)) count *= ShapeOf(p.weight)[static_cast<size_t>(axis)];
  return count;
}

// A number a channel (or one), so that it broadcasts to the result.
Expr AlongChannels(const ZeroPointProduct& p, const Expr& values) {
  if (IsScalar(values) || !p.is_conv) return values;
  Ints shape(ShapeOf(p.call).size() - 1, 1);
  shape[0] = ShapeOf(values)[0];
  return MakeTyped("reshape", {values}, {{"newshape", shape}});
}

// A number a row (or one), likewise.
Expr AlongRows(const Expr& values) {
  if (IsScalar(values)) return values;
  return MakeTyped("reshape", {values}, {{"newshape", Ints{ShapeOf(values)[0], 1}}});
}

// sum w for each output channel, in the form that broadcasts to the result.
Expr WeightSums(const ZeroPointProduct& p) {
  Expr sums = TrailingSums(p.weight, SummedAxes(p).size());
  if (!sums) sums = MakeTyped("sum", {AsInt32(p.weight)}, {{"axis", SummedAxes(p)}});
  if (!sums) return nullptr;
  if (ShapeOf(sums).size() == 1) return AlongChannels(p, sums);
  return MakeTyped("expand_dims", {sums}, {{"axis", int64_t{1}}});
}

// sum x for each element of the result; null where there is no operator for it.
Expr DataSums(const ZeroPointProduct& p, ir::Attrs attrs) {
  if (!p.is_conv) {
    return MakeTyped("sum", {AsInt32(p.data)}, {{"axis", Ints{-1}}, {"keepdims", true}});
  }
  const int64_t channels = ShapeOf(p.data)[1];
  const bool depthwise = p.groups == channels && ShapeOf(p.weight)[0] == channels;
  if (p.groups != 1 && !depthwise) return nullptr;
  Ints shape = ShapeOf(p.weight);
  shape[0] = p.groups;
  attrs.erase("channels");
  return MakeTyped(p.call->name.substr(1), {p.data, OnesOfInt8(shape)}, attrs);
}

Expr Times(const Expr& a, const Expr& b) { return MakeTyped("multiply", {a, b}); }

// The terms without x of the sum: zx * (n * zw - sum w).
Expr Bias(const ZeroPointProduct& p) {
  const Expr zx = AlongRows(AsInt32(p.data_zero));
  Expr rest = MakeTyped("negative", {WeightSums(p)});
  if (!IsKnownZero(p.weight_zero)) {
    const Expr zw = AlongChannels(p, AsInt32(p.weight_zero));
    const double n = static_cast<double>(Terms(p));
    rest = MakeTyped("add", {Times(zw, Scalar(n, DataType::kInt32)), rest});
  }
  return Times(zx, rest);
}

// As a bias where it is a vector along the channels, known now.
Expr AddBias(const ZeroPointProduct& p, const Expr& sums, const Expr& bias) {
  const int64_t channels = ShapeOf(p.weight)[p.is_conv ? 0 : ShapeOf(p.weight).size() - 2];
  const std::optional<Ints> known = KnownInts(bias);
  if (!known || static_cast<int64_t>(known->size()) != channels) {
    return MakeTyped("add", {sums, bias});
  }
  if (std::all_of(known->begin(), known->end(), [](int64_t x) { return x == 0; })) return sums;
  const int64_t axis = p.is_conv ? 1 : static_cast<int64_t>(ShapeOf(sums).size()) - 1;
  return MakeTyped("nn.bias_add", {sums, VectorOfInt32(*known)}, {{"axis", axis}});
}

// The data with its zero point around it, which is known at run time only. Padded less that, where
// the padding is zero: bytes wrap around, so what was taken away comes back.
Expr PaddedByZeroPoint(const ZeroPointProduct& p, const Ints& padding) {
  if (!IsScalar(p.data_zero)) return nullptr;
  const size_t axes = ShapeOf(p.data).size() - 2;
  const bool has_ends = padding.size() == 2 * axes;  // else one entry an axis, or one for all
  Ints widths(4, 0);                                 // none of samples and channels
  for (size_t axis = 0; axis < axes; ++axis) {
    widths.push_back(padding[axis % padding.size()]);
    widths.push_back(padding[(has_ends ? axes + axis : axis) % padding.size()]);
  }
  const Expr centred = MakeTyped("subtract", {p.data, p.data_zero});
  return MakeTyped("add", {MakeTyped("nn.pad", {centred}, {{"pad_width", widths}}), p.data_zero});
}

// Padding counts as the zero point: as an attribute where it is known, else it becomes part of the
// data. False where neither is possible.
bool TakePaddingApart(ZeroPointProduct* p, ir::Attrs* attrs) {
  const Ints padding = ops::IntsAttr(*attrs, "padding");
  if (std::all_of(padding.begin(), padding.end(), [](int64_t x) { return x == 0; })) return true;
  if (const std::optional<Ints> zx = KnownInts(p->data_zero)) {
    if (zx->size() == 1 && (*zx)[0] != 0) (*attrs)["pad_value"] = (*zx)[0];
    return zx->size() == 1;
  }
  p->data = PaddedByZeroPoint(*p, padding);
  (*attrs)["padding"] = Ints(padding.size(), 0);
  return p->data != nullptr;
}

Expr SplitProduct(ZeroPointProduct p) {
  ir::Attrs attrs = p.call->attrs;
  if (!TakePaddingApart(&p, &attrs)) return nullptr;
  Expr sums = MakeTyped(p.call->name.substr(1), {p.data, p.weight}, attrs);
  if (!sums) return nullptr;
  if (!IsKnownZero(p.weight_zero)) {
    const Expr data_sums = DataSums(p, attrs);
    if (!data_sums) return nullptr;
    sums =
        MakeTyped("subtract", {sums, Times(data_sums, AlongChannels(p, AsInt32(p.weight_zero)))});
  }
  if (IsKnownZero(p.data_zero)) return sums;
  const Expr bias = Bias(p);
  return sums && bias ? AddBias(p, sums, bias) : nullptr;
}

// Known weights less their zero points, where those are bytes too.
void AbsorbWeightZero(ZeroPointProduct* p) {
  if (IsKnownZero(p->weight_zero)) return;
  const std::optional<Ints> zero = KnownInts(p->weight_zero);
  if (!zero) return;
  const bool by_slice = zero->size() == 1 || p->call->name != "qnn.batch_matmul";
  if (const Expr centred = by_slice ? Centred(p->weight, *zero) : nullptr) {
    p->weight = centred;
    p->weight_zero = Scalar(0, DataType::kInt8);
  }
}

Expr LowerProduct(const Expr& call, const Signs& signs) {
  static const auto* const ops = new std::set<std::string, std::less<>>{
      "qnn.conv1d", "qnn.conv2d", "qnn.conv3d", "qnn.dense", "qnn.batch_matmul"};
  if (!ops->contains(call->name)) return nullptr;
  ZeroPointProduct p{call, call->args[0], call->args[1], call->args[2], call->args[3]};
  p.is_conv = call->name.starts_with("qnn.conv");
  p.groups = ops::IntAttr(call->attrs, "groups", 1);
  p.weight = EvaluatedConstant(p.weight);
  AbsorbWeightZero(&p);
  if (Differs(DtypeOf(p.data), signs.data)) {
    p.data = Flip(p.data);
    p.data_zero = Flip(p.data_zero);
  }
  if (Differs(DtypeOf(p.weight), signs.weight)) {
    p.weight = Flip(p.weight);
    p.weight_zero = Flip(p.weight_zero);
  }
  for (const Expr& operand : {p.data, p.data_zero, p.weight, p.weight_zero}) {
    if (!operand) return nullptr;
  }
  return SplitProduct(p);
}

// ---- around the products ----

// Two biases in a row are one.
Expr MergeBiases(const Expr& call) {
  const Expr& inner = call->args[0];
  if (!ir::IsCall(inner, "nn.bias_add") || DtypeOf(call) != DataType::kInt32 ||
      ops::IntAttr(inner->attrs, "axis", 1) != ops::IntAttr(call->attrs, "axis", 1) ||
      !IsConstant(inner->args[1])) {
    return nullptr;
  }
  const Expr bias = MakeTyped("add", {inner->args[1], call->args[1]});
  return MakeTyped("nn.bias_add", {inner->args[0], bias}, call->attrs);
}

// Quantised tensors of the other sign take the sign that products want where they are made, so
// that nothing has to be turned between two products.
Expr MoveFlip(const Expr& call, const Signs& signs) {
  if (signs.data == Sign::kAny) return nullptr;
  const bool scales = call->name == "qnn.requantize" || call->name == "qnn.quantize";
  if (scales && Differs(DtypeOf(call), signs.data) && IsScalar(call->args[2])) {
    const Expr zero_point = Flip(call->args[2]);
    const Expr made =
        MakeTyped(call->name, {call->args[0], call->args[1], zero_point}, call->attrs);
    return made ? Flipped(made) : nullptr;
  }
  const Expr original = call->args.empty() ? nullptr : Unflipped(call->args[0]);
  if (!original) return nullptr;
  if (call->name == "qnn.dequantize" && IsScalar(call->args[2])) {
    return MakeTyped(call->name, {original, call->args[1], Flip(call->args[2])}, call->attrs);
  }
  const bool bounds = call->name == "maximum" || call->name == "minimum";
  Expr moved;
  if (bounds && IsScalar(call->args[1])) {
    moved = MakeTyped(call->name, {original, Flip(call->args[1])}, call->attrs);
  } else if (MovesOrChooses(call)) {
    moved = MakeTyped(call->name, {original}, call->attrs);
  }
  return moved ? Flipped(moved) : nullptr;
}

}  // namespace

absl::StatusOr<ir::Module> SplitZeroPoints(const ir::Module& module, const PassContext& context) {
  const Signs signs = SignsFor(context.target);
  const auto rewrite = [&](const Expr& node) -> Expr {
    if (node->kind != ir::ExprKind::kCall || node->callee || !node->type->IsTensor()) return node;
    Expr result = LowerProduct(node, signs);
    if (!result && node->name == "nn.bias_add") result = MergeBiases(node);
    if (!result) result = MoveFlip(node, signs);
    return result ? result : node;
  };
  return MapFunctions(module, [&](const Expr& function) { return ir::Rewrite(function, rewrite); });
}

}  // namespace hone::passes
