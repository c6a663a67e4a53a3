// nn.softmax and nn.log_softmax along one axis. Stages: max, exp, sum, its reciprocal, and the
// product (or the difference of logarithms).
#include <cmath>
#include <numbers>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;
using Combiner = loop::NestBuilder::Combiner;

absl::StatusOr<ir::Type> Infer(const std::string& op, const std::vector<ir::Type>& args,
                               const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(ir::TensorType data, TensorOperand(op, args, 0, "data"));
  if (!IsFloat(data.dtype)) return OperandError(op, "data", "floats", data.ToString());
  HONE_RETURN_IF_ERROR(NormalizeAxis(op, IntAttr(attrs, "axis", -1), data.shape.size()).status());
  return TensorOf(std::move(data.shape), data.dtype);
}

// `axes` with the one at `axis` replaced, or left out for the stages that have reduced it.
std::vector<Expr> Insert(std::vector<Expr> axes, int64_t axis, const Expr& e) {
  axes.insert(axes.begin() + axis, e);
  return axes;
}
std::vector<Expr> Without(std::vector<Expr> axes, int64_t axis) {
  axes.erase(axes.begin() + axis);
  return axes;
}

// exp(x) of x <= 0, one of `count` terms of a sum that is at least 1, and 0 where its share of that
// could be subnormal. Masks of -100 leave such terms, in numbers: one operation on a subnormal
// number, or one that underflows, takes many processors as long as a hundred others.
Expr ExpOfTerm(const Expr& x, int64_t count) {
  const int least_exponent = x->dtype == DataType::kFloat64 ? -1022 : -126;
  // Twice the least normal number: shares are rounded.
  const Expr least = loop::FloatConst(
      (least_exponent + 1) * std::numbers::ln2 + std::log(static_cast<double>(count)), x->dtype);
  return loop::Select(Lt(x, least), loop::Const(0, x->dtype), loop::Unary(loop::UnaryOp::kExp, x));
}

std::vector<loop::Buffer> Define(const std::string& op, bool logarithm, loop::NestBuilder& builder,
                                 const loop::Buffer& data, const ir::Attrs& attrs,
                                 const ir::Type& result) {
  const Shape& shape = data->shape;
  const auto axis = *NormalizeAxis(op, IntAttr(attrs, "axis", -1), shape.size());
  const DataType dtype = AccumulatorType(data->dtype);
  Shape outer = shape;
  outer.erase(outer.begin() + axis);
  const std::vector<int64_t> extent = {shape[axis]};
  const std::string stage = op.substr(3);
  const auto element = [&](const std::vector<Expr>& axes) {
    return CastTo(dtype, loop::Load(data, axes));
  };

  const loop::Buffer max =
      builder.Reduce(stage + "_max", dtype, outer, extent, Combiner::kMax, LowestOf(dtype),
                     [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
                       return element(Insert(axes, axis, r[0]));
                     });
  const loop::Buffer exp =
      builder.Compute(stage + "_exp", dtype, shape, [&](const std::vector<Expr>& axes) {
        return ExpOfTerm(element(axes) - loop::Load(max, Without(axes, axis)), extent[0]);
      });
  const loop::Buffer sum =
      builder.Reduce(stage + "_sum", dtype, outer, extent, Combiner::kAdd, loop::Const(0, dtype),
                     [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
                       return loop::Load(exp, Insert(axes, axis, r[0]));
                     });
  if (!logarithm) {
    const loop::Buffer scale =
        builder.Compute(stage + "_scale", dtype, outer, [&](const std::vector<Expr>& row) {
          return Divide(loop::Const(1, dtype), loop::Load(sum, row));
        });
    return {builder.Compute(stage, result.tensor.dtype, shape, [&](const std::vector<Expr>& axes) {
      return CastTo(result.tensor.dtype,
                    loop::Load(exp, axes) * loop::Load(scale, Without(axes, axis)));
    })};
  }
  return {builder.Compute(stage, result.tensor.dtype, shape, [&](const std::vector<Expr>& axes) {
    const std::vector<Expr> row = Without(axes, axis);
    return CastTo(result.tensor.dtype, element(axes) - loop::Load(max, row) -
                                           loop::Unary(loop::UnaryOp::kLog, loop::Load(sum, row)));
  })};
}

Op MakeSoftmax(const std::string& name, bool logarithm) {
  Op op;
  op.name = name;
  op.kind = FuseKind::kOpaque;
  op.attrs = {{"axis", AttrKind::kInt}};
  op.infer_type = [=](const auto& args, const auto& attrs) { return Infer(name, args, attrs); };
  op.define = [=](auto& builder, const auto& args, const auto& attrs, const auto& result) {
    return Define(name, logarithm, builder, args[0], attrs, result);
  };
  op.flops = [](const auto&, const auto&, const auto& result) {
    return 5.0 * static_cast<double>(result.tensor.ElementCount());
  };
  return op;
}

}  // namespace

void RegisterSoftmax(std::vector<Op>& table) {
  table.push_back(MakeSoftmax("nn.softmax", false));
  table.push_back(MakeSoftmax("nn.log_softmax", true));
}

}  // namespace hone::ops
