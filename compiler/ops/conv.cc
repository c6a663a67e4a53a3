// nn.conv1d, nn.conv2d, nn.conv3d: convolutions over N, C and one to three spatial axes, grouped
// ones included. Weights are (output channels, input channels of a group, taps...).
#include <fmt/format.h>

#include "compiler/ops/attrs.h"
#include "compiler/ops/families.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"
#include "compiler/ops/window.h"
#include "support/status.h"

namespace hone::ops {
namespace {

using loop::Expr;

DataType ResultType(const ir::Attrs& attrs, DataType data) {
  return DataTypeAttr(attrs, "out_dtype", IsFloat(data) ? data : AccumulatorType(data));
}

absl::StatusOr<ir::Type> InferConv(const std::string& op, int spatial,
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
  if (weight.shape[1] * groups != data.shape[1] || weight.shape[0] % groups != 0 ||
      weight.shape[0] == 0) {
    return OperandError(
        op, "weight",
        fmt::format("{} input channels a group and output channels divisible by groups={}",
                    data.shape[1] / groups, groups),
        weight.ToString());
  }
  const bool both_bytes =
      SizeBytes(weight.dtype) == 1 && SizeBytes(data.dtype) == 1 && IsInteger(weight.dtype);
  if (weight.dtype != data.dtype && !both_bytes) {
    return OperandError(op, "weight", std::string(Name(data.dtype)) + " as the data",
                        weight.ToString());
  }
  const Shape taps(weight.shape.begin() + 2, weight.shape.end());
  HONE_ASSIGN_OR_RETURN(const Window window, ReadWindow(op, attrs, taps));
  Shape shape = {data.shape[0], weight.shape[0]};
  HONE_RETURN_IF_ERROR(AppendWindowOutput(op, window, data, &shape));
  return TensorOf(std::move(shape), ResultType(attrs, data.dtype));
}

loop::Buffer PadSpatial(loop::NestBuilder& builder, const loop::Buffer& data,
                        const Window& window) {
  if (!window.HasPadding()) return data;
  Shape before = {0, 0};
  Shape after = {0, 0};
  before.insert(before.end(), window.before.begin(), window.before.end());
  after.insert(after.end(), window.after.begin(), window.after.end());
  return PadStage(builder, data, before, after, 0);
}

std::vector<loop::Buffer> DefineConv(const std::string& name, loop::NestBuilder& builder,
                                     const std::vector<loop::Buffer>& args, const ir::Attrs& attrs,
                                     const ir::Type& result) {
  const loop::Buffer& weight = args[1];
  const Shape taps(weight->shape.begin() + 2, weight->shape.end());
  const Window window = *ReadWindow(name, attrs, taps);
  const loop::Buffer data = PadSpatial(builder, args[0], window);
  const int64_t groups = IntAttr(attrs, "groups", 1);
  const int64_t group_in = weight->shape[1];
  const int64_t group_out = weight->shape[0] / groups;
  const DataType accumulator = AccumulatorType(data->dtype);

  const auto channel = [&](const Expr& out, const Expr& in) {
    if (groups == 1) return in;
    const Expr group = group_out == 1 ? out : FloorDiv(out, loop::IntConst(group_out));
    return group * loop::IntConst(group_in) + in;
  };
  Shape reduce = {group_in};
  reduce.insert(reduce.end(), taps.begin(), taps.end());
  const auto value = [&](const std::vector<Expr>& axes, const std::vector<Expr>& r) {
    std::vector<Expr> at = {axes[0], channel(axes[1], r[0])};
    std::vector<Expr> tap = {axes[1], r[0]};
    for (size_t i = 0; i < taps.size(); ++i) {
      at.push_back(axes[2 + i] * loop::IntConst(window.strides[i]) +
                   r[1 + i] * loop::IntConst(window.dilation[i]));
      tap.push_back(r[1 + i]);
    }
    return CastTo(accumulator, loop::Load(data, at)) * CastTo(accumulator, loop::Load(weight, tap));
  };
  const loop::Buffer sum =
      builder.Reduce(name.substr(3), accumulator, result.tensor.shape, reduce,
                     loop::NestBuilder::Combiner::kAdd, loop::Const(0, accumulator), value);
  return {CastStage(builder, name.substr(3) + "_cast", sum, result.tensor.dtype)};
}

double ConvFlops(const std::vector<ir::Type>& args, const ir::Type& result) {
  const Shape& weight = args[1].tensor.shape;
  double flops = 2.0 * static_cast<double>(result.tensor.ElementCount());
  for (size_t i = 1; i < weight.size(); ++i) flops *= static_cast<double>(weight[i]);
  return flops;
}

Op MakeConv(int spatial) {
  Op op;
  op.name = fmt::format("nn.conv{}d", spatial);
  op.min_args = op.max_args = 2;
  op.kind = FuseKind::kComplex;
  op.attrs = {{"strides", AttrKind::kInts},       {"padding", AttrKind::kInts},
              {"dilation", AttrKind::kInts},      {"groups", AttrKind::kInt},
              {"channels", AttrKind::kInt},       {"kernel_size", AttrKind::kInts},
              {"data_layout", AttrKind::kString}, {"kernel_layout", AttrKind::kString},
              {"out_dtype", AttrKind::kDataType}};
  const std::string name = op.name;
  op.infer_type = [=](const auto& args, const auto& attrs) {
    return InferConv(name, spatial, args, attrs);
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
