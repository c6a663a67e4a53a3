// nn.batch_norm, as inference has it: (data - mean) / sqrt(variance + epsilon) * gamma + beta along
// one axis. One result; SimplifyInference rewrites it where the statistics are constants.
#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

constexpr char kName[] = "nn.batch_norm";

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  if (!IsFloat(data.dtype)) return OperandError(kName, "data", "floats", data.ToString());
  HONE_ASSIGN_OR_RETURN(const int64_t axis,
                        NormalizeAxis(kName, IntAttr(attrs, "axis", 1), data.shape.size()));
  const char* const names[] = {"gamma", "beta", "moving_mean", "moving_var"};
  for (size_t i = 0; i < 4; ++i) {
    HONE_RETURN_IF_ERROR(
        ExactOperand(kName, args, 1 + i, names[i], {{data.shape[axis]}, data.dtype}).status());
  }
  return TensorOf(std::move(data.shape), data.dtype);
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const auto axis = *NormalizeAxis(kName, IntAttr(attrs, "axis", 1), args[0]->shape.size());
  const DataType dtype = AccumulatorType(result.tensor.dtype);
  const double epsilon = FloatAttr(attrs, "epsilon", 1e-5);
  const bool center = BoolAttr(attrs, "center", true);
  const bool scale = BoolAttr(attrs, "scale", true);
  const auto value = [&](const std::vector<Expr>& axes) {
    const auto statistic = [&](size_t i) {
      return CastTo(dtype, loop::Load(args[i], {axes[axis]}));
    };
    Expr y = (CastTo(dtype, loop::Load(args[0], axes)) - statistic(3)) *
             loop::Unary(loop::UnaryOp::kRsqrt, statistic(4) + loop::FloatConst(epsilon, dtype));
    if (scale) y = y * statistic(1);
    if (center) y = y + statistic(2);
    return CastTo(result.tensor.dtype, y);
  };
  return {builder.Compute("batch_norm", result.tensor.dtype, result.tensor.shape, value)};
}

}  // namespace

void RegisterBatchNorm(std::vector<Op>& table) {
  Op op;
  op.name = kName;
  op.min_args = op.max_args = 5;
  op.kind = FuseKind::kBroadcast;
  op.attrs = {{"axis", AttrKind::kInt},
              {"epsilon", AttrKind::kFloat},
              {"center", AttrKind::kBool},
              {"scale", AttrKind::kBool}};
  op.infer_type = Infer;
  op.define = Define;
  op.flops = [](const auto& args, const auto& attrs, const auto& result) {
    return 4.0 * static_cast<double>(result.tensor.ElementCount());
  };
  table.push_back(std::move(op));
}

}  // namespace hone::ops
