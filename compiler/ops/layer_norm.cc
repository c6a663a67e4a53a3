// nn.layer_norm: (x - mean) / sqrt(variance + epsilon) over the axes named, times gamma plus beta
// where they are given. Stages: the sum, the sum of squared deviations, the result.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;
using Combiner = loop::NestBuilder::Combiner;

constexpr char kName[] = "nn.layer_norm";

absl::StatusOr<Shape> AxesOf(const ir::Attrs& attrs, size_t rank) {
  return NormalizeAxes(kName, IntsAttr(attrs, "axis", {-1}), rank);
}

absl::StatusOr<ir::Type> Infer(const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(ir::TensorType data, TensorOperand(kName, args, 0, "data"));
  if (!IsFloat(data.dtype)) return OperandError(kName, "data", "floats", data.ToString());
  HONE_ASSIGN_OR_RETURN(const Shape axes, AxesOf(attrs, data.shape.size()));
  ir::TensorType affine = {{}, data.dtype};
  for (const int64_t axis : axes) affine.shape.push_back(data.shape[axis]);
  const char* const names[] = {"data", "gamma", "beta"};
  for (size_t i = 1; i < args.size(); ++i) {
    HONE_RETURN_IF_ERROR(ExactOperand(kName, args, i, names[i], affine).status());
  }
  return TensorOf(std::move(data.shape), data.dtype);
}

std::vector<loop::Buffer> Define(loop::NestBuilder& builder, const std::vector<loop::Buffer>& args,
                                 const ir::Attrs& attrs, const ir::Type& result) {
  const loop::Buffer& data = args[0];
  const Shape axes = *AxesOf(attrs, data->shape.size());
  const DataType dtype = AccumulatorType(data->dtype);
  Shape rows;
  Shape extents;
  const auto is_normal = [&](size_t i) {
    return std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(i));
  };
  for (size_t i = 0; i < data->shape.size(); ++i) {
    (is_normal(i) ? extents : rows).push_back(data->shape[i]);
  }
  // An element by its row and its place in the row; and the parts of an element's index.
  const auto element = [&](const std::vector<Expr>& row, const std::vector<Expr>& r) {
    std::vector<Expr> index;
    size_t next[2] = {0, 0};
    for (size_t i = 0; i < data->shape.size(); ++i) {
      index.push_back(is_normal(i) ? r[next[1]++] : row[next[0]++]);
    }
    return CastTo(dtype, loop::Load(data, index));
  };
  const auto part = [&](const std::vector<Expr>& index, bool normal) {
    std::vector<Expr> own;
    for (size_t i = 0; i < index.size(); ++i) {
      if (is_normal(i) == normal) own.push_back(index[i]);
    }
    return own;
  };

  const Expr zero = loop::Const(0, dtype);
  const Expr share =
      loop::Const(1.0 / static_cast<double>(std::max<int64_t>(Product(extents), 1)), dtype);
  const loop::Buffer sum =
      builder.Reduce("layer_norm_sum", dtype, rows, extents, Combiner::kAdd, zero, element);
  const auto centred = [&](const Expr& x, const std::vector<Expr>& row) {
    return x - loop::Load(sum, row) * share;
  };
  const loop::Buffer squares =
      builder.Reduce("layer_norm_squares", dtype, rows, extents, Combiner::kAdd, zero,
                     [&](const std::vector<Expr>& row, const std::vector<Expr>& r) {
                       const Expr d = centred(element(row, r), row);
                       return d * d;
                     });
  const Expr epsilon = loop::Const(FloatAttr(attrs, "epsilon", 1e-5), dtype);
  return {builder.Compute("layer_norm", result.tensor.dtype, result.tensor.shape,
                          [&](const std::vector<Expr>& index) {
                            const std::vector<Expr> row = part(index, false);
                            const Expr variance = loop::Load(squares, row) * share;
                            Expr y = centred(CastTo(dtype, loop::Load(data, index)), row) *
                                     loop::Unary(loop::UnaryOp::kRsqrt, variance + epsilon);
                            if (args.size() > 1)
                              y = y * CastTo(dtype, loop::Load(args[1], part(index, true)));
                            if (args.size() > 2)
                              y = y + CastTo(dtype, loop::Load(args[2], part(index, true)));
                            return CastTo(result.tensor.dtype, y);
                          })};
}

}  // namespace

void RegisterLayerNorm(std::vector<Op>& table) {
  Op op;
  op.name = kName;
  op.max_args = 3;
  op.kind = FuseKind::kOpaque;
  op.attrs = {{"axis", AttrKind::kInts}, {"epsilon", AttrKind::kFloat}};
  op.infer_type = Infer;
  op.define = Define;
  op.flops = [](const auto&, const auto&, const auto& result) {
    return 8.0 * static_cast<double>(result.tensor.ElementCount());
  };
  table.push_back(std::move(op));
}

}  // namespace hone::ops
