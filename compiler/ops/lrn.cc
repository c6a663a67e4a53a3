// nn.lrn: x / (bias + alpha / size * sum of squares over `size` neighbours along the axis) ^ beta.
#include <fmt/format.h>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

constexpr char kName[] = "nn.lrn";

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  if (!IsFloat(data.dtype)) return OperandError(kName, "data", "floats", data.ToString());
  HONE_RETURN_IF_ERROR(NormalizeAxis(kName, IntAttr(attrs, "axis", 1), data.shape.size()).status());
  const int64_t size = IntAttr(attrs, "size", 5);
  if (size < 1 || size > (1 << 20)) {
    return AttrError(kName, "size", "1 to 1048576", fmt::format("{}", size));
  }
  return TensorOf(std::move(data.shape), data.dtype);
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const loop::Buffer& data = args[0];
  const auto axis = *NormalizeAxis(kName, IntAttr(attrs, "axis", 1), data->shape.size());
  const int64_t size = IntAttr(attrs, "size", 5);
  const DataType dtype = AccumulatorType(data->dtype);
  const Expr zero = loop::Const(0, dtype);
  const loop::Buffer squares =
      builder.Reduce("lrn_squares", dtype, data->shape, std::vector<int64_t>{size},
                     loop::NestBuilder::Combiner::kAdd, zero,
                     [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
                       std::vector<Expr> index = axes;
                       index[axis] = axes[axis] + r[0] - loop::IntConst((size - 1) / 2);
                       const Expr x = CastTo(dtype, loop::Load(data, index));
                       return loop::Select(InRange(index[axis], 0, data->shape[axis]), x * x, zero);
                     });
  const Expr bias = loop::Const(FloatAttr(attrs, "bias", 1), dtype);
  const Expr beta = loop::Const(FloatAttr(attrs, "beta", 0.75), dtype);
  const Expr scale =
      loop::Const(FloatAttr(attrs, "alpha", 1e-4) / static_cast<double>(size), dtype);
  return {builder.Compute(
      "lrn", result.tensor.dtype, result.tensor.shape, [&](const std::vector<Expr>& axes) {
        const Expr base = bias + scale * loop::Load(squares, axes);
        const Expr divisor = loop::Binary(loop::BinaryOp::kPow, base, beta);
        return CastTo(result.tensor.dtype, Divide(CastTo(dtype, loop::Load(data, axes)), divisor));
      })};
}

}  // namespace

void RegisterLrn(std::vector<Op>& table) {
  Op op;
  op.name = kName;
  op.kind = FuseKind::kOpaque;
  op.attrs = {{"size", AttrKind::kInt},
              {"axis", AttrKind::kInt},
              {"bias", AttrKind::kFloat},
              {"alpha", AttrKind::kFloat},
              {"beta", AttrKind::kFloat}};
  op.infer_type = Infer;
  op.define = Define;
  op.flops = [](const auto&, const auto& attrs, const auto& result) {
    return static_cast<double>(result.tensor.ElementCount()) *
           static_cast<double>(2 * IntAttr(attrs, "size", 5) + 4);
  };
  table.push_back(std::move(op));
}

}  // namespace hone::ops
