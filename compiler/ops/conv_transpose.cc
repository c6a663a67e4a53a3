// nn.conv{1,2,3}d_transpose: the transpose of a convolution, data (N, C, ...), weight (C, M /
// groups,
// ...). Written from the result's side: a tap counts where its position lies on the stride.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "compiler/ops/window.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

Shape TapsOf(const Shape& weight) { return Shape(weight.begin() + 2, weight.end()); }

absl::StatusOr<ir::Type> Infer(const std::string& op, int spatial,
                               const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(op, args, 0, "data", spatial + 2));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType weight,
                        TensorOperand(op, args, 1, "weight", spatial + 2));
  const int64_t groups = IntAttr(attrs, "groups", 1);
  if (groups < 1 || data.shape[1] % groups != 0) {
    return AttrError(op, "groups", "a divisor of the channels of " + data.ToString(),
                     fmt::format("{}", groups));
  }
  if (!IsFloat(data.dtype)) return OperandError(op, "data", "floats", data.ToString());
  int64_t channels = 0;
  if (weight.shape[0] != data.shape[1] || weight.dtype != data.dtype || weight.shape[1] == 0 ||
      __builtin_mul_overflow(weight.shape[1], groups, &channels)) {
    return OperandError(op, "weight",
                        fmt::format("{} of {} input channels", Name(data.dtype), data.shape[1]),
                        weight.ToString());
  }
  HONE_ASSIGN_OR_RETURN(const Window window, ReadWindow(op, attrs, TapsOf(weight.shape)));
  const Shape extra = IntsAttr(attrs, "output_padding", Shape(spatial, 0));
  Shape shape = {data.shape[0], channels};
  for (int i = 0; i < spatial; ++i) {
    constexpr int64_t kMost = int64_t{1} << 31;
    if (extra.size() != static_cast<size_t>(spatial) || extra[i] < 0 || extra[i] > kMost) {
      return AttrError(op, "output_padding", fmt::format("{} integers not below 0", spatial),
                       ShapeText(extra));
    }
    int64_t reach = 0;
    if (__builtin_mul_overflow(data.shape[2 + i] - 1, window.strides[i], &reach) || reach > kMost) {
      return OperandError(op, "data", "a result that can be addressed", data.ToString());
    }
    const int64_t extent = reach + window.dilation[i] * (window.taps[i] - 1) + 1 + extra[i] -
                           window.before[i] - window.after[i];
    if (extent < 1) {
      return AttrError(op, "padding", "less than the result has", ShapeText(window.before));
    }
    shape.push_back(extent);
  }
  return TensorOf(std::move(shape), data.dtype);
}

std::vector<loop::Buffer> Define(const std::string& name, loop::NestBuilder& builder,
                                 const std::vector<loop::Buffer>& args, const ir::Attrs& attrs,
                                 const ir::Type& result) {
  const loop::Buffer& data = args[0];
  const loop::Buffer& weight = args[1];
  const Shape taps = TapsOf(weight->shape);
  const Window window = *ReadWindow(name, attrs, taps);
  const int64_t groups = IntAttr(attrs, "groups", 1);
  const int64_t group_in = data->shape[1] / groups;
  const int64_t group_out = weight->shape[1];
  const DataType dtype = AccumulatorType(data->dtype);

  Shape reduce = {group_in};
  reduce.insert(reduce.end(), taps.begin(), taps.end());
  const auto value = [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
    const bool grouped = groups > 1;
    const Expr group = grouped ? FloorDiv(axes[1], loop::IntConst(group_out)) : loop::IntConst(0);
    const Expr channel = grouped ? group * loop::IntConst(group_in) + r[0] : r[0];
    std::vector<Expr> at = {axes[0], channel};
    std::vector<Expr> tap = {channel,
                             grouped ? axes[1] - group * loop::IntConst(group_out) : axes[1]};
    std::vector<Expr> met;
    for (size_t i = 0; i < taps.size(); ++i) {
      const Expr stride = loop::IntConst(window.strides[i]);
      const Expr position = axes[2 + i] + loop::IntConst(window.before[i]) -
                            r[1 + i] * loop::IntConst(window.dilation[i]);
      const Expr from = window.strides[i] == 1 ? position : FloorDiv(position, stride);
      met.push_back(InRange(from, 0, data->shape[2 + i]));
      if (window.strides[i] != 1) {
        met.push_back(Eq(FloorMod(position, stride), loop::IntConst(0)));
      }
      at.push_back(from);
      tap.push_back(r[1 + i]);
    }
    return loop::Select(AllOf(met), CastTo(dtype, loop::Load(data, at)), loop::Const(0, dtype)) *
           CastTo(dtype, loop::Load(weight, tap));
  };
  const std::string stage = name.substr(3);
  const loop::Buffer sum =
      builder.Reduce(stage, dtype, result.tensor.shape, reduce, loop::NestBuilder::Combiner::kAdd,
                     loop::Const(0, dtype), value);
  return {CastStage(builder, stage + "_cast", sum, result.tensor.dtype)};
}

}  // namespace

void RegisterConvTranspose(std::vector<Op>& table) {
  for (int spatial = 1; spatial <= 3; ++spatial) {
    Op op;
    op.name = fmt::format("nn.conv{}d_transpose", spatial);
    op.min_args = op.max_args = 2;
    op.kind = FuseKind::kComplex;
    op.attrs = {{"strides", AttrKind::kInts},
                {"padding", AttrKind::kInts},
                {"dilation", AttrKind::kInts},
                {"output_padding", AttrKind::kInts},
                {"groups", AttrKind::kInt}};
    const std::string name = op.name;
    op.infer_type = [=](const auto& args, const auto& attrs) {
      return Infer(name, spatial, args, attrs);
    };
    op.define = [=](auto& builder, const auto& args, const auto& attrs, const auto& result) {
      return Define(name, builder, args, attrs, result);
    };
    // Each element of the data meets each tap once.
    op.flops = [](const auto& args, const auto&, const auto&) {
      const Shape& weight = args[1].tensor.shape;
      double flops = 2.0 * static_cast<double>(args[0].tensor.ElementCount());
      for (size_t i = 1; i < weight.size(); ++i) flops *= static_cast<double>(weight[i]);
      return flops;
    };
    table.push_back(std::move(op));
  }
}

}  // namespace hone::ops
