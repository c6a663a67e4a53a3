// nn.conv1d, nn.conv2d, nn.conv3d: convolutions over N, C and one to three spatial axes, grouped
// ones included. Weights are (output channels, input channels of a group, taps...). The data is
// padded with `pad_value`, 0 unless given (the zero point of quantised data).
#include "compiler/ops/conv.h"

#include <fmt/format.h>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "support/status.h"

namespace hone::ops {

using loop::Expr;

std::vector<AttrSpec> ConvAttrs() {
  return {{"strides", AttrKind::kInts},       {"padding", AttrKind::kInts},
          {"dilation", AttrKind::kInts},      {"groups", AttrKind::kInt},
          {"channels", AttrKind::kInt},       {"kernel_size", AttrKind::kInts},
          {"data_layout", AttrKind::kString}, {"kernel_layout", AttrKind::kString},
          {"out_dtype", AttrKind::kDataType}, {"pad_value", AttrKind::kInt}};
}

absl::StatusOr<Shape> ConvResultShape(const std::string& op, int spatial,
                                      const std::vector<ir::Type>& args, const ir::Attrs& attrs) {
  HONE_ASSIGN_OR_RETURN(const ir::TensorType data, TensorOperand(op, args, 0, "data", spatial + 2));
  HONE_ASSIGN_OR_RETURN(const ir::TensorType weight,
                        TensorOperand(op, args, 1, "weight", spatial + 2));
  const int64_t groups = IntAttr(attrs, "groups", 1);
  if (groups < 1) return AttrError(op, "groups", "at least 1", fmt::format("{}", groups));
  if (data.shape[1] % groups != 0) {
    return OperandError(op, "data", fmt::format("channels divisible by groups={}", groups),
                        data.ToString());
  }
  if (weight.shape[1] != data.shape[1] / groups || weight.shape[0] % groups != 0 ||
      weight.shape[0] == 0) {
    return OperandError(
        op, "weight",
        fmt::format("{} input channels a group and output channels divisible by groups={}",
                    data.shape[1] / groups, groups),
        weight.ToString());
  }
  if (!AreMultiplied(data.dtype, weight.dtype)) {
    return OperandError(op, "weight", std::string(Name(data.dtype)) + " as the data",
                        weight.ToString());
  }
  const Shape taps(weight.shape.begin() + 2, weight.shape.end());
  HONE_ASSIGN_OR_RETURN(const Window window, ReadWindow(op, attrs, taps));
  Shape shape = {data.shape[0], weight.shape[0]};
  HONE_RETURN_IF_ERROR(AppendWindowOutput(op, window, data, &shape));
  return shape;
}

double ConvFlops(const std::vector<ir::Type>& args, const ir::Type& result) {
  const Shape& weight = args[1].tensor.shape;
  double flops = 2.0 * static_cast<double>(result.tensor.ElementCount());
  for (size_t i = 1; i < weight.size(); ++i) flops *= static_cast<double>(weight[i]);
  return flops;
}

ConvIndices::ConvIndices(const std::string& op, const Shape& weight, const ir::Attrs& attrs)
    : window(*ReadWindow(op, attrs, Shape(weight.begin() + 2, weight.end()))),
      reduce(weight.begin() + 1, weight.end()),
      groups(IntAttr(attrs, "groups", 1)),
      group_in(weight[1]),
      group_out(weight[0] / groups) {}

std::vector<Expr> ConvIndices::Data(const std::vector<Expr>& axes,
                                    const std::vector<Expr>& r) const {
  Expr channel = r[0];
  if (groups != 1) {
    const Expr group = group_out == 1 ? axes[1] : FloorDiv(axes[1], loop::IntConst(group_out));
    channel = group * loop::IntConst(group_in) + r[0];
  }
  std::vector<Expr> at = {axes[0], channel};
  for (size_t i = 0; i + 1 < r.size(); ++i) {
    at.push_back(axes[2 + i] * loop::IntConst(window.strides[i]) +
                 r[1 + i] * loop::IntConst(window.dilation[i]));
  }
  return at;
}

std::vector<Expr> ConvIndices::Weight(const std::vector<Expr>& axes,
                                      const std::vector<Expr>& r) const {
  std::vector<Expr> tap = {axes[1]};
  tap.insert(tap.end(), r.begin(), r.end());
  return tap;
}

Shape ConvIndices::Before() const {
  Shape before = {0, 0};
  before.insert(before.end(), window.before.begin(), window.before.end());
  return before;
}

Shape ConvIndices::After() const {
  Shape after = {0, 0};
  after.insert(after.end(), window.after.begin(), window.after.end());
  return after;
}

namespace {

DataType ResultType(const ir::Attrs& attrs, DataType data) {
  return DataTypeAttr(attrs, "out_dtype", IsFloat(data) ? data : AccumulatorType(data));
}

std::vector<loop::Buffer> DefineConv(const std::string& name, loop::NestBuilder& builder,
                                     const std::vector<loop::Buffer>& args, const ir::Attrs& attrs,
                                     const ir::Type& result) {
  const loop::Buffer& weight = args[1];
  const ConvIndices indices(name, weight->shape, attrs);
  const loop::Buffer data = indices.window.HasPadding()
                                ? PadStage(builder, args[0], indices.Before(), indices.After(),
                                           NumberAttr(attrs, "pad_value", 0, args[0]->dtype))
                                : args[0];
  const DataType accumulator = AccumulatorType(data->dtype);
  const auto value = [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
    return CastTo(accumulator, loop::Load(data, indices.Data(axes, r))) *
           CastTo(accumulator, loop::Load(weight, indices.Weight(axes, r)));
  };
  const loop::Buffer sum =
      builder.Reduce(name.substr(3), accumulator, result.tensor.shape, indices.reduce,
                     loop::NestBuilder::Combiner::kAdd, loop::Const(0, accumulator), value);
  return {CastStage(builder, name.substr(3) + "_cast", sum, result.tensor.dtype)};
}

Op MakeConv(int spatial) {
  Op op;
  op.name = fmt::format("nn.conv{}d", spatial);
  op.min_args = op.max_args = 2;
  op.kind = FuseKind::kComplex;
  op.attrs = ConvAttrs();
  const std::string name = op.name;
  op.infer_type = [=](const auto& args, const auto& attrs) -> absl::StatusOr<ir::Type> {
    HONE_ASSIGN_OR_RETURN(Shape shape, ConvResultShape(name, spatial, args, attrs));
    return TensorOf(std::move(shape), ResultType(attrs, args[0].tensor.dtype));
  };
  op.define = [=](auto& builder, const auto& args, const auto& attrs, const auto& result) {
    return DefineConv(name, builder, args, attrs, result);
  };
  op.flops = [](const auto& args, const auto& attrs, const auto& result) {
    return ConvFlops(args, result);
  };
  return op;
}

}  // namespace

void RegisterConv(std::vector<Op>& table) {
  for (int spatial = 1; spatial <= 3; ++spatial) table.push_back(MakeConv(spatial));
}

}  // namespace hone::ops
