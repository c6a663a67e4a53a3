// nn.lp_pool{1,2,3}d: the p-norm of each window; padding counts as zeros.
#include <fmt/format.h>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "compiler/ops/window.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

absl::StatusOr<ir::Type> Infer(const std::string& op, int spatial,
                               const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(op, args, 0, "data", spatial + 2));
  if (!IsFloat(data.dtype)) return OperandError(op, "data", "floats", data.ToString());
  const int64_t p = IntAttr(attrs, "p", 2);
  if (p < 1) return AttrError(op, "p", "at least 1", fmt::format("{}", p));
  HONE_ASSIGN_OR_RETURN(const Window window, ReadPoolWindow(op, spatial, attrs));
  Shape shape = {data.shape[0], data.shape[1]};
  HONE_RETURN_IF_ERROR(AppendWindowOutput(op, window, data, &shape));
  return TensorOf(std::move(shape), data.dtype);
}

Expr Power(const Expr& magnitude, int64_t p) {
  if (p == 1) return magnitude;
  if (p == 2) return magnitude * magnitude;
  return loop::Binary(loop::BinaryOp::kPow, magnitude,
                      loop::Const(static_cast<double>(p), magnitude->dtype));
}

Expr Root(const Expr& sum, int64_t p) {
  if (p == 1) return sum;
  if (p == 2) return loop::Unary(loop::UnaryOp::kSqrt, sum);
  return loop::Binary(loop::BinaryOp::kPow, sum,
                      loop::Const(1.0 / static_cast<double>(p), sum->dtype));
}

std::vector<loop::Buffer> Define(const std::string& name, size_t spatial,
                                 loop::NestBuilder& builder, const loop::Buffer& data,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const Window window = *ReadPoolWindow(name, spatial, attrs);
  const int64_t p = IntAttr(attrs, "p", 2);
  const DataType dtype = AccumulatorType(data->dtype);
  const auto value = [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
    std::vector<Expr> index = {axes[0], axes[1]};
    std::vector<Expr> inside;
    for (size_t i = 0; i < spatial; ++i) {
      index.push_back(axes[2 + i] * loop::IntConst(window.strides[i]) -
                      loop::IntConst(window.before[i]) + r[i] * loop::IntConst(window.dilation[i]));
      inside.push_back(InRange(index.back(), 0, data->shape[2 + i]));
    }
    const Expr magnitude = loop::Unary(loop::UnaryOp::kAbs, CastTo(dtype, loop::Load(data, index)));
    return loop::Select(AllOf(inside), Power(magnitude, p), loop::Const(0, dtype));
  };
  const std::string stage = name.substr(3);
  const loop::Buffer sum =
      builder.Reduce(stage + "_sum", dtype, result.tensor.shape, window.taps,
                     loop::NestBuilder::Combiner::kAdd, loop::Const(0, dtype), value);
  return {builder.Compute(stage, result.tensor.dtype, result.tensor.shape,
                          [&](const std::vector<Expr>& axes) {
                            return CastTo(result.tensor.dtype, Root(loop::Load(sum, axes), p));
                          })};
}

}  // namespace

void RegisterLpPool(std::vector<Op>& table) {
  for (int spatial = 1; spatial <= 3; ++spatial) {
    Op op;
    op.name = fmt::format("nn.lp_pool{}d", spatial);
    op.kind = FuseKind::kComplex;
    op.attrs = {{"pool_size", AttrKind::kInts, true}, {"p", AttrKind::kInt},
                {"strides", AttrKind::kInts},         {"padding", AttrKind::kInts},
                {"dilation", AttrKind::kInts},        {"ceil_mode", AttrKind::kBool}};
    const std::string name = op.name;
    op.infer_type = [=](const auto& args, const auto& attrs) {
      return Infer(name, spatial, args, attrs);
    };
    op.define = [=](auto& builder, const auto& args, const auto& attrs, const auto& result) {
      return Define(name, spatial, builder, args[0], attrs, result);
    };
    op.flops = [](const auto&, const auto& attrs, const auto& result) {
      return 2.0 * static_cast<double>(result.tensor.ElementCount() *
                                       Product(IntsAttr(attrs, "pool_size")));
    };
    table.push_back(std::move(op));
  }
}

}  // namespace hone::ops
