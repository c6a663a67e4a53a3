#include "compiler/passes/quantized_arithmetic.h"

#include <vector>

#include "compiler/passes/rewriting.h"

namespace hone::passes {
namespace {

using ir::Expr;

Expr Real(const Expr& zero_point) { return Cast(zero_point, DataType::kFloat32); }
Expr One() { return Scalar(1, DataType::kFloat32); }

// `to` and `x` per tensor, and of one type of bytes.
bool AreBytesOfOneType(const Quantized& x, const Quantized& to) {
  const DataType dtype = DtypeOf(to.zero_point);
  return (dtype == DataType::kInt8 || dtype == DataType::kUInt8) && DtypeOf(x.data) == dtype &&
         x.IsPerTensor() && to.IsPerTensor();
}

// The integers as float32, exactly. A dequantise rather than a cast: passes that change the sign of
// bytes see through it.
Expr Number(const Expr& bytes) {
  return MakeTyped("qnn.dequantize", {bytes, One(), Scalar(0, DtypeOf(bytes))});
}
// The integers less their zero point, likewise.
Expr CentredNumber(const Quantized& x) {
  return MakeTyped("qnn.dequantize", {x.data, One(), x.zero_point});
}

// Rounded to even and clamped. The zero point is in `number` already.
Expr Rounded(const Expr& number, const Quantized& to) {
  return MakeTyped("qnn.quantize", {number, One(), Scalar(0, DtypeOf(to.zero_point))});
}

// a * b + c of parameters in one rounding, also where constants are folded: the product of a
// float32 by a small integer is exact in float64.
Expr RoundedOnce(const Expr& a, const Expr& b, const Expr& c) {
  const auto wide = [](const Expr& e) { return Cast(e, DataType::kFloat64); };
  const Expr sum = MakeTyped("add", {MakeTyped("multiply", {wide(a), wide(b)}), wide(c)});
  return Cast(sum, DataType::kFloat32);
}

// Whether one element of `x` meets a whole run of neighbours of the result.
bool RepeatsInside(const Expr& x, const Expr& other) {
  const auto& shape = ShapeOf(x);
  const auto& full = ShapeOf(other);
  for (size_t i = 1; i <= full.size(); ++i) {
    const int64_t extent = i <= shape.size() ? shape[shape.size() - i] : 1;
    if (extent != full[full.size() - i]) return extent == 1;
    if (extent != 1) return false;
  }
  return false;
}

}  // namespace

bool Quantized::IsPerTensor() const {
  return ShapeOf(scale).empty() && ShapeOf(zero_point).empty();
}

Expr QuantizedSum(const Quantized& x, const Quantized& y, const Quantized& to) {
  if (!AreBytesOfOneType(x, to) || !AreBytesOfOneType(y, to)) return nullptr;
  if (RepeatsInside(x.data, y.data)) return QuantizedSum(y, x, to);
  const Expr x_ratio = MakeTyped("divide", {x.scale, to.scale});
  const Expr y_ratio = MakeTyped("divide", {y.scale, to.scale});
  const Expr y_zero = MakeTyped("multiply", {y_ratio, Real(y.zero_point)});
  const Expr zero = RoundedOnce(x_ratio, Real(x.zero_point), y_zero);
  const Expr fixed = MakeTyped("subtract", {Real(to.zero_point), zero});
  const Expr inner = MakeTyped("multiply_add", {Number(y.data), y_ratio, fixed});
  const Expr outer = MakeTyped("multiply_add", {Number(x.data), x_ratio, inner});
  return Rounded(outer, to);
}

Expr QuantizedProduct(const Quantized& x, const Quantized& y, const Quantized& to) {
  if (!AreBytesOfOneType(x, to) || !AreBytesOfOneType(y, to)) return nullptr;
  const Expr product = MakeTyped("multiply", {CentredNumber(x), CentredNumber(y)});
  const Expr scale = MakeTyped("divide", {MakeTyped("multiply", {x.scale, y.scale}), to.scale});
  return Rounded(MakeTyped("multiply_add", {product, scale, Real(to.zero_point)}), to);
}

Expr QuantizedMean(const Quantized& x, const Quantized& to) {
  if (!AreBytesOfOneType(x, to)) return nullptr;
  // Sums of so many bytes are exact in float32, in any order.
  constexpr int64_t kMostElements = (int64_t{1} << 24) / 255;
  const auto& shape = ShapeOf(x.data);
  std::vector<int64_t> axes;
  int64_t count = 1;
  for (size_t axis = 2; axis < shape.size(); ++axis) {
    axes.push_back(static_cast<int64_t>(axis));
    if (shape[axis] <= 0 || shape[axis] > kMostElements / count) return nullptr;
    count *= shape[axis];
  }
  if (axes.empty()) return nullptr;
  const Expr sum = MakeTyped("sum", {CentredNumber(x)}, {{"axis", axes}, {"keepdims", true}});
  const Expr whole =
      MakeTyped("multiply", {to.scale, Scalar(static_cast<double>(count), DataType::kFloat32)});
  const Expr scaled = MakeTyped("multiply", {sum, MakeTyped("divide", {x.scale, whole})});
  return MakeTyped("qnn.quantize", {scaled, One(), to.zero_point});
}

}  // namespace hone::passes
