// multiply_add: data * scale + shift, with numpy's broadcasting. One expression, and so one
// rounding wherever the target multiplies and adds in one instruction, whatever the schedule; an
// `add` of a `multiply` may be two stages.
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args) {
  const char* const op = "multiply_add";
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(op, args, 0, "data"));
  if (!IsFloat(data.dtype)) return OperandError(op, "data", "floats", data.ToString());
  Shape shape = data.shape;
  for (const auto& [i, name] : {std::pair(1, "scale"), std::pair(2, "shift")}) {
    HONE_ASSIGN_OR_RETURN(const ir::TensorType operand, TensorOperand(op, args, i, name));
    if (operand.dtype != data.dtype) {
      return OperandError(op, name, std::string(Name(data.dtype)) + " as the data",
                          operand.ToString());
    }
    HONE_ASSIGN_OR_RETURN(shape, BroadcastShape(op, shape, operand.shape));
  }
  return TensorOf(std::move(shape), data.dtype);
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Type& result) {
  const DataType inner = AccumulatorType(result.tensor.dtype);
  const auto value = [&](const std::vector<Expr>& axes) {
    const Expr data = CastTo(inner, BroadcastLoad(args[0], axes));
    const Expr scale = CastTo(inner, BroadcastLoad(args[1], axes));
    const Expr shift = CastTo(inner, BroadcastLoad(args[2], axes));
    return CastTo(result.tensor.dtype, data * scale + shift);
  };
  return {builder.Compute("multiply_add", result.tensor.dtype, result.tensor.shape, value)};
}

}  // namespace

void RegisterMultiplyAdd(std::vector<Op>& table) {
  Op op;
  op.name = "multiply_add";
  op.min_args = op.max_args = 3;
  op.kind = FuseKind::kBroadcast;
  op.infer_type = [](const auto& args, const auto&) { return Infer(args); };
  op.define = [](auto& builder, const auto& args, const auto&, const auto& result) {
    return Define(builder, args, result);
  };
  op.flops = [](const auto&, const auto&, const auto& result) {
    return 2.0 * static_cast<double>(result.tensor.ElementCount());
  };
  table.push_back(std::move(op));
}

}  // namespace hone::ops
