#include "compiler/ops/qnn.h"

#include <fmt/format.h>

#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {

using loop::Expr;

bool IsQuantized(DataType dtype) {
  return dtype == DataType::kInt8 || dtype == DataType::kUInt8 || dtype == DataType::kInt16 ||
         dtype == DataType::kUInt16;
}

absl::Status CheckQuantParam(std::string_view op, std::string_view operand,
                             const ir::TensorType& param, const ir::TensorType& data,
                             int64_t axis) {
  if (param.shape.empty()) return absl::OkStatus();
  if (param.shape.size() == data.shape.size()) {
    bool fits = true;
    for (size_t i = 0; i < data.shape.size(); ++i) {
      fits = fits && (param.shape[i] == 1 || param.shape[i] == data.shape[i]);
    }
    if (fits) return absl::OkStatus();
  } else if (param.shape.size() == 1) {
    HONE_ASSIGN_OR_RETURN(const int64_t normal, NormalizeAxis(op, axis, data.shape.size()));
    if (param.shape[0] == data.shape[normal]) return absl::OkStatus();
  }
  return OperandError(op, operand,
                      fmt::format("a number, a vector along axis {} or a shape that broadcasts to "
                                  "{}",
                                  axis, ShapeText(data.shape)),
                      param.ToString());
}

Expr LoadQuantParam(const loop::Buffer& param, const std::vector<Expr>& index, int64_t axis) {
  if (param->shape.size() == index.size()) return BroadcastLoad(param, index);
  if (param->shape.empty()) return loop::Load(param, {});
  return loop::Load(param, {index[AxisFromFront(axis, index.size())]});
}

Expr RoundAndSaturate(const Expr& x, const Expr& zero_point, DataType dtype) {
  const DataType inner = x->dtype;
  const Expr shifted =
      loop::Unary(loop::UnaryOp::kRound, x) + CastTo(inner, CastTo(DataType::kInt32, zero_point));
  const Expr low = loop::Const(static_cast<double>(LowestOf(dtype)->int_value), inner);
  const Expr high = loop::Const(static_cast<double>(HighestOf(dtype)->int_value), inner);
  return CastTo(dtype, Min(Max(shifted, low), high));
}

}  // namespace hone::ops
