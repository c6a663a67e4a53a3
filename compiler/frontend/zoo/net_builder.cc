#include "compiler/frontend/zoo/net_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ops/call_type.h"

namespace hone::frontend {
namespace {

using Ints = std::vector<int64_t>;

int64_t ChannelsOf(const ir::Expr& x) { return x->type->tensor.shape[1]; }
size_t SpatialAxes(const ir::Expr& x) { return x->type->tensor.shape.size() - 2; }

ir::Attrs StrideAndPadding(size_t axes, const PerAxis& stride, const PerAxis& padding) {
  Ints both = padding.Of(axes);
  const Ints after = both;
  both.insert(both.end(), after.begin(), after.end());
  return {{"strides", stride.Of(axes)}, {"padding", both}, {"dilation", Ints(axes, 1)}};
}

ir::Attrs PoolAttrs(size_t axes, const PoolShape& shape) {
  ir::Attrs attrs = StrideAndPadding(axes, shape.stride, shape.padding);
  attrs["pool_size"] = shape.kernel.Of(axes);
  if (shape.ceil_mode) attrs["ceil_mode"] = true;
  return attrs;
}

}  // namespace

Ints PerAxis::Of(size_t axes) const {
  Ints values(axes);
  for (size_t i = 0; i < axes; ++i) values[i] = (*this)[i];
  return values;
}

int64_t NetBuilder::Width(int64_t channels) const {
  return std::max<int64_t>(1, channels / size_.width_divisor);
}

int64_t NetBuilder::Extent(int64_t extent) const {
  return std::max<int64_t>(1, extent / size_.extent_divisor);
}

ir::Expr NetBuilder::Input(const std::string& name, Ints shape, DataType dtype) {
  inputs_.push_back(ir::TensorVar(name, std::move(shape), dtype));
  return inputs_.back();
}

ir::Expr NetBuilder::Image(int64_t channels, const Ints& extents) {
  Ints shape = {batch(), channels};
  for (const int64_t extent : extents) shape.push_back(Extent(extent));
  return Input("data", std::move(shape));
}

ir::Module NetBuilder::Finish(const ir::Expr& output) const {
  ir::Module module;
  module.functions["main"] =
      ops::TypedFunction(inputs_, output, {{"output_names", std::vector<std::string>{"output"}}});
  return module;
}

ir::Expr NetBuilder::Uniform(Ints shape, double low, double high) {
  ir::TensorType type = {std::move(shape), DataType::kFloat32};
  auto values = std::make_shared<std::vector<float>>(type.ElementCount());
  for (float& value : *values) value = static_cast<float>(low + (high - low) * random_.Uniform());
  const auto* first = reinterpret_cast<const uint8_t*>(values->data());
  const size_t size_bytes = values->size() * sizeof(float);
  return ir::Constant(std::move(type), {std::move(values), first, size_bytes});
}

// Dies with the error's message on a layer that does not fit.
ir::Expr NetBuilder::Call(const std::string& op, std::vector<ir::Expr> args, ir::Attrs attrs) {
  return ops::TypedCall(op, std::move(args), std::move(attrs)).value();
}

ir::Expr NetBuilder::Bias(const ir::Expr& x) {
  return Call("nn.bias_add", {x, Uniform({ChannelsOf(x)}, -0.125, 0.125)}, {{"axis", int64_t{1}}});
}

ir::Expr NetBuilder::Conv(const ir::Expr& x, const ConvShape& shape) {
  const size_t axes = SpatialAxes(x);
  const int64_t groups = shape.depthwise ? ChannelsOf(x) : 1;
  Ints weight = {shape.depthwise ? ChannelsOf(x) : Width(shape.channels), ChannelsOf(x) / groups};
  auto fan_in = static_cast<double>(weight[1]);
  for (size_t i = 0; i < axes; ++i) {
    weight.push_back(shape.kernel[i]);
    fan_in *= static_cast<double>(shape.kernel[i]);
  }
  const double bound = std::sqrt(6.0 / fan_in);
  ir::Attrs attrs = StrideAndPadding(axes, shape.stride, shape.padding);
  attrs["groups"] = groups;
  return Call(fmt::format("nn.conv{}d", axes), {x, Uniform(weight, -bound, bound)},
              std::move(attrs));
}

ir::Expr NetBuilder::ConvTranspose(const ir::Expr& x, const ConvShape& shape) {
  const size_t axes = SpatialAxes(x);
  Ints weight = {ChannelsOf(x), Width(shape.channels)};
  auto fan_in = static_cast<double>(weight[0]);  // an element meets every stride-th tap
  for (size_t i = 0; i < axes; ++i) {
    weight.push_back(shape.kernel[i]);
    fan_in *= static_cast<double>(shape.kernel[i]) / static_cast<double>(shape.stride[i]);
  }
  const double bound = std::sqrt(6.0 / fan_in);
  ir::Attrs attrs = StrideAndPadding(axes, shape.stride, shape.padding);
  attrs["groups"] = int64_t{1};
  attrs["output_padding"] = Ints(axes, 0);
  return Call(fmt::format("nn.conv{}d_transpose", axes), {x, Uniform(weight, -bound, bound)},
              std::move(attrs));
}

ir::Expr NetBuilder::BatchNorm(const ir::Expr& x, double scale, double epsilon) {
  const Ints shape = {ChannelsOf(x)};
  const ir::Expr gamma = Uniform(shape, 0.8 * scale, 1.2 * scale);
  const ir::Expr beta = Uniform(shape, -0.125, 0.125);
  const ir::Expr mean = Uniform(shape, -0.125, 0.125);
  const ir::Expr variance = Uniform(shape, 0.8, 1.2);
  return Call("nn.batch_norm", {x, gamma, beta, mean, variance}, {{"epsilon", epsilon}});
}

ir::Expr NetBuilder::ConvBnRelu(const ir::Expr& x, const ConvShape& shape) {
  return Relu(BatchNorm(Conv(x, shape)));
}

ir::Expr NetBuilder::ConvBiasRelu(const ir::Expr& x, const ConvShape& shape) {
  return Relu(Bias(Conv(x, shape)));
}

ir::Expr NetBuilder::Dense(const ir::Expr& x, int64_t units, double gain) {
  const Ints weight = {Width(units), x->type->tensor.shape.back()};
  const double bound = gain * std::sqrt(6.0 / static_cast<double>(weight[1]));
  return Bias(Call("nn.dense", {x, Uniform(weight, -bound, bound)}));
}

ir::Expr NetBuilder::Relu(const ir::Expr& x) { return Call("nn.relu", {x}); }

ir::Expr NetBuilder::Relu6(const ir::Expr& x) {
  return Call("clip", {x}, {{"a_min", 0.0}, {"a_max", 6.0}});
}

ir::Expr NetBuilder::Add(const ir::Expr& a, const ir::Expr& b) { return Call("add", {a, b}); }

ir::Expr NetBuilder::Concat(std::vector<ir::Expr> parts, int64_t axis) {
  return Call("concatenate", {ops::TypedTuple(std::move(parts))}, {{"axis", axis}});
}

ir::Expr NetBuilder::MaxPool(const ir::Expr& x, const PoolShape& shape) {
  return Call(fmt::format("nn.max_pool{}d", SpatialAxes(x)), {x}, PoolAttrs(SpatialAxes(x), shape));
}

ir::Expr NetBuilder::AvgPool(const ir::Expr& x, const PoolShape& shape, bool count_padding) {
  ir::Attrs attrs = PoolAttrs(SpatialAxes(x), shape);
  if (count_padding) attrs["count_include_pad"] = true;
  return Call(fmt::format("nn.avg_pool{}d", SpatialAxes(x)), {x}, std::move(attrs));
}

ir::Expr NetBuilder::GlobalAvgPool(const ir::Expr& x) {
  return Call(fmt::format("nn.global_avg_pool{}d", SpatialAxes(x)), {x});
}

ir::Expr NetBuilder::Flatten(const ir::Expr& x) { return Call("nn.batch_flatten", {x}); }

ir::Expr NetBuilder::Reshape(const ir::Expr& x, Ints shape) {
  return Call("reshape", {x}, {{"newshape", std::move(shape)}});
}

ir::Expr NetBuilder::Softmax(const ir::Expr& x, int64_t axis) {
  return Call("nn.softmax", {x}, {{"axis", axis}});
}

ir::Expr NetBuilder::Classifier(const ir::Expr& features, double gain) {
  return Softmax(Dense(Flatten(GlobalAvgPool(features)), 1000, gain));
}

}  // namespace hone::frontend
