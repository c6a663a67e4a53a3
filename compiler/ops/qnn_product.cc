// qnn.conv1d to 3d, qnn.dense, qnn.batch_matmul: sums of products of quantised numbers, each less
// its zero point, as int32. Operands are (data, weight, data's zero point, weight's zero point):
// the data's is one number, of qnn.dense also one a row; the weight's one number or one an output
// channel. What convolutions pad with is the zero point.
#include <fmt/format.h>

#include "compiler/ops/attrs.h"
#include "compiler/ops/conv.h"
#include "compiler/ops/families.h"
#include "compiler/ops/qnn.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;
using Buffers = std::vector<loop::Buffer>;

constexpr DataType kSum = DataType::kInt32;

// The operands' types; `rows` -1 where the data's zero point must be one number.
absl::Status CheckOperands(const std::string& op, const std::vector<ir::Type>& args, int64_t rows,
                           int64_t channels) {
  const char* const names[] = {"data", "weight", "data_zero_point", "weight_zero_point"};
  for (size_t i = 0; i < 4; ++i) {
    HONE_ASSIGN_OR_RETURN(const ir::TensorType type, TensorOperand(op, args, i, names[i]));
    if (SizeBytes(type.dtype) != 1 || !IsInteger(type.dtype)) {
      return OperandError(op, names[i], "int8 or uint8", type.ToString());
    }
    if (i < 2) continue;
    const int64_t extent = i == 2 ? rows : channels;
    const bool vector = extent >= 0 && type.shape == Shape{extent};
    if (type.dtype != args[i - 2].tensor.dtype || (!type.shape.empty() && !vector)) {
      return OperandError(
          op, names[i],
          fmt::format("a number{} of type {}", extent >= 0 ? fmt::format(" or {}", extent) : "",
                      Name(args[i - 2].tensor.dtype)),
          type.ToString());
    }
  }
  return absl::OkStatus();
}

// An element less its zero point, of which there may be one at `channel`.
Expr Centred(const Expr& x, const loop::Buffer& zero_point, const Expr& channel) {
  std::vector<Expr> index;
  if (!zero_point->shape.empty()) index.push_back(channel);
  return CastTo(kSum, x) - CastTo(kSum, loop::Load(zero_point, index));
}

loop::Buffer PadWithZeroPoint(loop::NestBuilder& builder, const Buffers& args,
                              const ConvIndices& indices) {
  if (!indices.window.HasPadding()) return args[0];
  const Shape before = indices.Before();
  const Shape after = indices.After();
  Shape shape = args[0]->shape;
  for (size_t i = 0; i < shape.size(); ++i) shape[i] += before[i] + after[i];
  return builder.Compute("pad", args[0]->dtype, shape, [&](const std::vector<Expr>& axes) {
    std::vector<Expr> index = axes;
    std::vector<Expr> inside;
    for (size_t i = 0; i < axes.size(); ++i) {
      index[i] = axes[i] - loop::IntConst(before[i]);
      if (before[i] != 0) inside.push_back(loop::Ge(index[i], loop::IntConst(0)));
      if (after[i] != 0) inside.push_back(loop::Lt(index[i], loop::IntConst(args[0]->shape[i])));
    }
    return loop::Select(AllOf(inside), loop::Load(args[0], index), loop::Load(args[2], {}));
  });
}

Buffers DefineConv(const std::string& op, loop::NestBuilder& builder, const Buffers& args,
                   const ir::Attrs& attrs, const ir::Type& result) {
  const ConvIndices indices(op, args[1]->shape, attrs);
  const loop::Buffer data = PadWithZeroPoint(builder, args, indices);
  return {builder.Reduce(
      op.substr(4), kSum, result.tensor.shape, indices.reduce, loop::NestBuilder::Combiner::kAdd,
      loop::Const(0, kSum), [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
        return Centred(loop::Load(data, indices.Data(axes, r)), args[2], axes[0]) *
               Centred(loop::Load(args[1], indices.Weight(axes, r)), args[3], axes[1]);
      })};
}

Op MakeConv(int spatial) {
  Op op;
  op.name = fmt::format("qnn.conv{}d", spatial);
  op.attrs = ConvAttrs();
  const std::string name = op.name;
  op.infer_type = [=](const auto& args, const auto& attrs) -> absl::StatusOr<ir::Type> {
    HONE_ASSIGN_OR_RETURN(Shape shape, ConvResultShape(name, spatial, args, attrs));
    HONE_RETURN_IF_ERROR(CheckOperands(name, args, -1, args[1].tensor.shape[0]));
    return TensorOf(std::move(shape), kSum);
  };
  op.define = [=](auto& builder, const auto& args, const auto& attrs, const auto& result) {
    return DefineConv(name, builder, args, attrs, result);
  };
  op.flops = [](const auto& args, const auto&, const auto& result) {
    return ConvFlops(args, result);
  };
  return op;
}

// data[.., m, k] by weight[.., n, k] transposed; `rank` is 2, or 3 with a leading batch axis of
// which either may have one.
absl::StatusOr<ir::Type> InferMatmul(const std::string& op, int rank,
                                     const std::vector<ir::Type>& args) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(op, args, 0, "data", rank));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType weight, TensorOperand(op, args, 1, "weight", rank));
  const bool same_batch =
      rank == 2 || data.shape[0] == weight.shape[0] || weight.shape[0] == 1 || data.shape[0] == 1;
  if (weight.shape.back() != data.shape.back() || !same_batch) {
    return OperandError(op, "weight",
                        fmt::format("a last extent of {}{}", data.shape.back(),
                                    rank == 2 ? "" : " and the batch of data"),
                        weight.ToString());
  }
  const int64_t rows = rank == 2 ? data.shape[0] : -1;
  HONE_RETURN_IF_ERROR(CheckOperands(op, args, rows, weight.shape[rank - 2]));
  Shape shape = {data.shape[rank - 2], weight.shape[rank - 2]};
  if (rank == 3) shape.insert(shape.begin(), std::max(data.shape[0], weight.shape[0]));
  return TensorOf(std::move(shape), kSum);
}

Buffers DefineMatmul(const std::string& op, loop::NestBuilder& builder, const Buffers& args,
                     const ir::Type& result) {
  const auto value = [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
    const Expr row = axes[axes.size() - 2];
    const Expr column = axes[axes.size() - 1];
    std::vector<Expr> a = {row, r[0]};
    std::vector<Expr> b = {column, r[0]};
    if (axes.size() == 3) {
      a.insert(a.begin(), args[0]->shape[0] == 1 ? loop::IntConst(0) : axes[0]);
      b.insert(b.begin(), args[1]->shape[0] == 1 ? loop::IntConst(0) : axes[0]);
    }
    return Centred(loop::Load(args[0], a), args[2], row) *
           Centred(loop::Load(args[1], b), args[3], column);
  };
  return {builder.Reduce(op.substr(4), kSum, result.tensor.shape,
                         std::vector<int64_t>{args[0]->shape.back()},
                         loop::NestBuilder::Combiner::kAdd, loop::Const(0, kSum), value)};
}

Op MakeMatmul(const std::string& name, int rank) {
  Op op;
  op.name = name;
  op.infer_type = [=](const auto& args, const auto&) { return InferMatmul(name, rank, args); };
  op.define = [=](auto& builder, const auto& args, const auto&, const auto& result) {
    return DefineMatmul(name, builder, args, result);
  };
  op.flops = [](const auto& args, const auto&, const auto& result) {
    return 2.0 * static_cast<double>(result.tensor.ElementCount()) *
           static_cast<double>(args[0].tensor.shape.back());
  };
  return op;
}

}  // namespace

void RegisterQnnProduct(std::vector<Op>& table) {
  std::vector<Op> ops = {MakeMatmul("qnn.dense", 2), MakeMatmul("qnn.batch_matmul", 3)};
  for (int spatial = 1; spatial <= 3; ++spatial) ops.push_back(MakeConv(spatial));
  for (Op& op : ops) {
    op.min_args = op.max_args = 4;
    op.kind = FuseKind::kComplex;
    table.push_back(std::move(op));
  }
}

}  // namespace hone::ops
