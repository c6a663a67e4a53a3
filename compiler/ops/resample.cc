// resample: along one axis, each position of the result is a weighted sum of positions of the data:
//   result[.., o, ..] = sum over t of data[.., indices[o, t], ..] * weights[o, t]
// Every separable interpolation is one such call an axis. Indices are clamped into the data.
#include <fmt/format.h>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;
using Combiner = loop::NestBuilder::Combiner;

constexpr char kName[] = "resample";

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType indices, TensorOperand(kName, args, 1, "indices", 2));
  HONE_RETURN_IF_ERROR(
      ExactOperand(kName, args, 2, "weights", {indices.shape, data.dtype}).status());
  HONE_ASSIGN_OR_RETURN(const int64_t axis,
                        NormalizeAxis(kName, IntAttr(attrs, "axis", -1), data.shape.size()));
  if (!IsFloat(data.dtype) || data.shape[axis] == 0) {
    return OperandError(kName, "data", fmt::format("floats with an axis {}", axis),
                        data.ToString());
  }
  if (!IsInteger(indices.dtype)) {
    return OperandError(kName, "indices", "integers", indices.ToString());
  }
  Shape shape = data.shape;
  shape[axis] = indices.shape[0];
  return TensorOf(std::move(shape), data.dtype);
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const loop::Buffer& data = args[0];
  const int64_t axis = *NormalizeAxis(kName, IntAttr(attrs, "axis", -1), data->shape.size());
  const DataType dtype = AccumulatorType(data->dtype);
  // The tables in the order of the result's positions: where they are constants that is done once.
  const Shape table = {args[1]->shape[1], args[1]->shape[0]};
  const loop::Buffer indices =
      builder.Compute("resample_indices", DataType::kInt64, table, [&](const std::vector<Expr>& i) {
        return IndexWithin(loop::Load(args[1], {i[1], i[0]}), data->shape[axis]);
      });
  const loop::Buffer weights = builder.Compute(
      "resample_weights", dtype, table,
      [&](const std::vector<Expr>& i) { return CastTo(dtype, loop::Load(args[2], {i[1], i[0]})); });
  const loop::Buffer sum = builder.Reduce(
      kName, dtype, result.tensor.shape, {table[0]}, Combiner::kAdd, loop::Const(0, dtype),
      [&](const std::vector<Expr>& axes, const std::vector<Expr>& tap) {
        const std::vector<Expr> entry = {tap[0], axes[axis]};
        std::vector<Expr> index = axes;
        index[axis] = loop::Load(indices, entry);
        return CastTo(dtype, loop::Load(data, index)) * loop::Load(weights, entry);
      });
  return {CastStage(builder, "resample_cast", sum, data->dtype)};
}

}  // namespace

void RegisterResample(std::vector<Op>& table) {
  Op op;
  op.name = kName;
  op.min_args = op.max_args = 3;
  op.kind = FuseKind::kComplex;
  op.attrs = {{"axis", AttrKind::kInt}};
  op.infer_type = Infer;
  op.define = Define;
  op.flops = [](const auto& args, const auto&, const auto& result) {
    return 2.0 * static_cast<double>(result.tensor.ElementCount() * args[1].tensor.shape[1]);
  };
  table.push_back(std::move(op));
}

}  // namespace hone::ops
