// qnn.quantize, qnn.dequantize, qnn.requantize: between real numbers, their quantised form
// (real = (q - zero point) * scale) and sums of products of quantised numbers.
#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/qnn.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

enum class Scaling { kQuantize, kDequantize, kRequantize };

int64_t AxisAttr(const ir::Attrs& attrs) { return IntAttr(attrs, "axis", 1); }

absl::Status CheckTypes(const std::string& op, Scaling scaling, const ir::TensorType& data,
                        const ir::TensorType& scale, const ir::TensorType& zero_point) {
  if (!IsFloat(scale.dtype)) return OperandError(op, "scale", "floats", scale.ToString());
  switch (scaling) {
    case Scaling::kQuantize:
      if (!IsFloat(data.dtype)) return OperandError(op, "data", "floats", data.ToString());
      break;
    case Scaling::kDequantize:
      if (!IsQuantized(data.dtype) && data.dtype != DataType::kInt32) {
        return OperandError(op, "data", "integers of 8, 16 or 32 bits", data.ToString());
      }
      if (zero_point.dtype != data.dtype) {
        return OperandError(op, "zero_point", std::string(Name(data.dtype)) + " as the data",
                            zero_point.ToString());
      }
      return absl::OkStatus();
    case Scaling::kRequantize:
      if (data.dtype != DataType::kInt32) return OperandError(op, "data", "int32", data.ToString());
      break;
  }
  if (IsQuantized(zero_point.dtype)) return absl::OkStatus();
  return OperandError(op, "zero_point", "integers of 8 or 16 bits, the type of the result",
                      zero_point.ToString());
}

absl::StatusOr<ir::Type> Infer(const std::string& op, Scaling scaling,
                               const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(ir::TensorType data, TensorOperand(op, args, 0, "data"));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType scale, TensorOperand(op, args, 1, "scale"));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType zero_point, TensorOperand(op, args, 2, "zero_point"));
  HONE_RETURN_IF_ERROR(CheckTypes(op, scaling, data, scale, zero_point));
  HONE_RETURN_IF_ERROR(CheckQuantParam(op, "scale", scale, data, AxisAttr(attrs)));
  HONE_RETURN_IF_ERROR(CheckQuantParam(op, "zero_point", zero_point, data, AxisAttr(attrs)));
  const bool to_real = scaling == Scaling::kDequantize;
  return TensorOf(std::move(data.shape), to_real ? scale.dtype : zero_point.dtype);
}

std::vector<loop::Buffer> Define(const std::string& op, Scaling scaling, loop::NestBuilder& builder,
                                 const std::vector<loop::Buffer>& args, const ir::Attrs& attrs,
                                 const ir::Type& result) {
  const int64_t axis = AxisAttr(attrs);
  const DataType inner = AccumulatorType(args[1]->dtype);
  const auto value = [&](const std::vector<Expr>& index) {
    const Expr x = loop::Load(args[0], index);
    const Expr scale = CastTo(inner, LoadQuantParam(args[1], index, axis));
    const Expr zero_point = LoadQuantParam(args[2], index, axis);
    switch (scaling) {
      case Scaling::kQuantize:
        return RoundAndSaturate(Divide(CastTo(inner, x), scale), zero_point, result.tensor.dtype);
      case Scaling::kRequantize:
        return RoundAndSaturate(CastTo(inner, x) * scale, zero_point, result.tensor.dtype);
      default: {
        const Expr offset = CastTo(DataType::kInt32, x) - CastTo(DataType::kInt32, zero_point);
        return CastTo(result.tensor.dtype, CastTo(inner, offset) * scale);
      }
    }
  };
  return {builder.Compute(op.substr(4), result.tensor.dtype, result.tensor.shape, value)};
}

}  // namespace

void RegisterQnnScale(std::vector<Op>& table) {
  const std::pair<std::string, Scaling> scalings[] = {{"qnn.quantize", Scaling::kQuantize},
                                                      {"qnn.dequantize", Scaling::kDequantize},
                                                      {"qnn.requantize", Scaling::kRequantize}};
  for (const auto& [name, scaling] : scalings) {
    Op op;
    op.name = name;
    op.min_args = op.max_args = 3;
    op.kind = FuseKind::kBroadcast;
    op.attrs = {{"axis", AttrKind::kInt}};
    op.infer_type = [name, scaling](const auto& args, const auto& attrs) {
      return Infer(name, scaling, args, attrs);
    };
    op.define = [name, scaling](auto& builder, const auto& args, const auto& attrs,
                                const auto& result) {
      return Define(name, scaling, builder, args, attrs, result);
    };
    op.flops = [](const auto&, const auto&, const auto& result) {
      return 4.0 * static_cast<double>(result.tensor.ElementCount());
    };
    table.push_back(std::move(op));
  }
}

}  // namespace hone::ops
