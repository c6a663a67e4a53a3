#include "compiler/ops/scalar_math.h"

#include <limits>

#include "compiler/loop/scalar.h"
#include "compiler/ops/attrs.h"

namespace hone::ops {
namespace {

// Bits of a signed integer's magnitude.
int MagnitudeBits(DataType dtype) { return SizeBytes(dtype) * 8 - 1; }

// As constants hold unsigned integers: that of 64 bits by its bits.
int64_t HighestUnsigned(DataType dtype) {
  return static_cast<int64_t>(std::numeric_limits<uint64_t>::max() >> (64 - SizeBytes(dtype) * 8));
}

}  // namespace

loop::Expr Divide(loop::Expr a, loop::Expr b) {
  return loop::Binary(loop::BinaryOp::kDiv, std::move(a), std::move(b));
}

loop::Expr LowestOf(DataType dtype) {
  if (IsFloat(dtype)) {
    return loop::FloatConst(-std::numeric_limits<double>::infinity(), dtype);
  }
  if (dtype == DataType::kBool) return loop::BoolConst(false);
  if (IsUnsigned(dtype)) return loop::IntConst(0, dtype);
  return loop::IntConst(std::numeric_limits<int64_t>::min() >> (63 - MagnitudeBits(dtype)), dtype);
}

loop::Expr HighestOf(DataType dtype) {
  if (IsFloat(dtype)) return loop::FloatConst(std::numeric_limits<double>::infinity(), dtype);
  if (dtype == DataType::kBool) return loop::BoolConst(true);
  if (IsUnsigned(dtype)) return loop::IntConst(HighestUnsigned(dtype), dtype);
  return loop::IntConst(std::numeric_limits<int64_t>::max() >> (63 - MagnitudeBits(dtype)), dtype);
}

loop::Expr IsLarger(const loop::Expr& a, const loop::Expr& b) {
  if (!IsFloat(a->dtype)) return Lt(b, a);
  const auto no = [](loop::Expr e) { return loop::Unary(loop::UnaryOp::kNot, std::move(e)); };
  return loop::And(no(Le(a, b)), no(loop::Unary(loop::UnaryOp::kIsNan, b)));
}

loop::Expr NumberAttr(const ir::Attrs& attrs, const std::string& name, double fallback,
                      DataType dtype) {
  const auto found = attrs.find(name);
  const auto* const integer = found == attrs.end() ? nullptr : std::get_if<int64_t>(&found->second);
  if (integer != nullptr && !IsFloat(dtype)) {
    return loop::IntConst(loop::NearestInt(*integer, dtype), dtype);
  }
  return loop::Const(FloatAttr(attrs, name, fallback), dtype);
}

loop::Expr CastTo(DataType dtype, loop::Expr e) {
  return e->dtype == dtype ? e : loop::Cast(dtype, std::move(e));
}

loop::Expr InRange(const loop::Expr& index, int64_t low, int64_t high) {
  return loop::And(loop::Ge(index, loop::IntConst(low)), loop::Lt(index, loop::IntConst(high)));
}

loop::Expr IndexWithin(const loop::Expr& position, int64_t extent) {
  const loop::Expr raw = CastTo(DataType::kInt64, position);
  const loop::Expr at = loop::Select(Lt(raw, loop::IntConst(0)), raw + loop::IntConst(extent), raw);
  return Min(Max(at, loop::IntConst(0)), loop::IntConst(extent - 1));
}

loop::Expr AllOf(const std::vector<loop::Expr>& conditions) {
  loop::Expr result;
  for (const loop::Expr& condition : conditions) {
    result = result ? loop::And(result, condition) : condition;
  }
  return result ? result : loop::BoolConst(true);
}

loop::Buffer CastStage(loop::NestBuilder& builder, const std::string& name,
                       const loop::Buffer& data, DataType dtype) {
  if (data->dtype == dtype) return data;
  return builder.Compute(name, dtype, data->shape, [&](const std::vector<loop::Expr>& axes) {
    return loop::Cast(dtype, loop::Load(data, axes));
  });
}

loop::Buffer PadStage(loop::NestBuilder& builder, const loop::Buffer& data, const Shape& before,
                      const Shape& after, const loop::Expr& value) {
  Shape shape = data->shape;
  for (size_t i = 0; i < shape.size(); ++i) shape[i] += before[i] + after[i];
  return builder.Compute("pad", data->dtype, shape, [&](const std::vector<loop::Expr>& axes) {
    std::vector<loop::Expr> index;
    std::vector<loop::Expr> inside;
    for (size_t i = 0; i < axes.size(); ++i) {
      index.push_back(axes[i] - loop::IntConst(before[i]));
      if (before[i] != 0) inside.push_back(loop::Ge(index[i], loop::IntConst(0)));
      if (after[i] != 0) inside.push_back(loop::Lt(index[i], loop::IntConst(data->shape[i])));
    }
    return loop::Select(AllOf(inside), loop::Load(data, index), value);
  });
}

loop::Expr BroadcastLoad(const loop::Buffer& buffer, const std::vector<loop::Expr>& index) {
  std::vector<loop::Expr> own;
  const size_t skip = index.size() - buffer->shape.size();
  for (size_t i = 0; i < buffer->shape.size(); ++i) {
    own.push_back(buffer->shape[i] == 1 ? loop::IntConst(0) : index[skip + i]);
  }
  return loop::Load(buffer, own);
}

}  // namespace hone::ops
