// nn.dense: data[m, k] x weight[n, k] transposed. nn.batch_matmul: the same for each of b slices.
#include <fmt/format.h>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

DataType ResultType(const ir::Attrs& attrs, DataType data) {
  return DataTypeAttr(attrs, "out_dtype", IsFloat(data) ? data : AccumulatorType(data));
}

// `rank` is 2, or 3 with a leading batch axis.
absl::StatusOr<ir::Type> InferMatmul(const std::string& op, int rank,
                                     const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(op, args, 0, "data", rank));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType weight, TensorOperand(op, args, 1, "weight", rank));
  const bool same_batch =
      rank == 2 || data.shape[0] == weight.shape[0] || weight.shape[0] == 1 || data.shape[0] == 1;
  if (weight.shape.back() != data.shape.back() || !AreMultiplied(data.dtype, weight.dtype) ||
      !same_batch) {
    return OperandError(op, "weight",
                        fmt::format("{} with a last extent of {}{}", Name(data.dtype),
                                    data.shape.back(), rank == 2 ? "" : " and the batch of data"),
                        weight.ToString());
  }
  Shape shape = {data.shape[rank - 2], weight.shape[rank - 2]};
  if (rank == 3) shape.insert(shape.begin(), std::max(data.shape[0], weight.shape[0]));
  return TensorOf(std::move(shape), ResultType(attrs, data.dtype));
}

std::vector<loop::Buffer> DefineMatmul(const std::string& stage, loop::NestBuilder& builder,
                                       const std::vector<loop::Buffer>& args,
                                       const ir::Type& result) {
  const loop::Buffer& data = args[0];
  const loop::Buffer& weight = args[1];
  const DataType accumulator = AccumulatorType(data->dtype);
  const auto value = [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
    std::vector<Expr> a = {axes[axes.size() - 2], r[0]};
    std::vector<Expr> b = {axes[axes.size() - 1], r[0]};
    if (axes.size() == 3) {
      a.insert(a.begin(), data->shape[0] == 1 ? loop::IntConst(0) : axes[0]);
      b.insert(b.begin(), weight->shape[0] == 1 ? loop::IntConst(0) : axes[0]);
    }
    return CastTo(accumulator, loop::Load(data, a)) * CastTo(accumulator, loop::Load(weight, b));
  };
  const loop::Buffer sum = builder.Reduce(
      stage, accumulator, result.tensor.shape, std::vector<int64_t>{data->shape.back()},
      loop::NestBuilder::Combiner::kAdd, loop::Const(0, accumulator), value);
  return {CastStage(builder, stage + "_cast", sum, result.tensor.dtype)};
}

Op MakeMatmul(const std::string& name, int rank) {
  Op op;
  op.name = name;
  op.min_args = op.max_args = 2;
  op.kind = FuseKind::kComplex;
  op.attrs = {{"units", AttrKind::kInt}, {"out_dtype", AttrKind::kDataType}};
  op.infer_type = [=](const auto& args, const auto& attrs) {
    return InferMatmul(name, rank, args, attrs);
  };
  op.define = [=](auto& builder, const auto& args, const auto& attrs, const auto& result) {
    return DefineMatmul(name.substr(3), builder, args, result);
  };
  op.flops = [](const auto& args, const auto& attrs, const auto& result) {
    return 2.0 * static_cast<double>(result.tensor.ElementCount()) *
           static_cast<double>(args[0].tensor.shape.back());
  };
  return op;
}

}  // namespace

void RegisterDense(std::vector<Op>& table) {
  table.push_back(MakeMatmul("nn.dense", 2));
  table.push_back(MakeMatmul("nn.batch_matmul", 3));
}

}  // namespace hone::ops
