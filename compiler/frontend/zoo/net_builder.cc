#include "compiler/frontend/zoo/net_builder.h"

#include <cmath>

#include "compiler/ops/call_type.h"

namespace hone::frontend {
namespace {

using Ints = std::vector<int64_t>;

// Dies with the error's message on a layer that does not fit.
ir::Expr Call(const std::string& op, std::vector<ir::Expr> args, ir::Attrs attrs = {}) {
  return ops::TypedCall(op, std::move(args), std::move(attrs)).value();
}

int64_t ChannelsOf(const ir::Expr& x) { return x->type->tensor.shape[1]; }

}  // namespace

ir::Expr NetBuilder::Input(const std::string& name, Ints shape) {
  inputs_.push_back(ir::TensorVar(name, std::move(shape), DataType::kFloat32));
  return inputs_.back();
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
  ir::ConstantData data;
  data.bytes = reinterpret_cast<const uint8_t*>(values->data());
  data.size_bytes = values->size() * sizeof(float);
  data.owner = std::move(values);
  return ir::Constant(std::move(type), std::move(data));
}

ir::Expr NetBuilder::Bias(const ir::Expr& x, int64_t channels) {
  return Call("nn.bias_add", {x, Uniform({channels}, -0.125, 0.125)}, {{"axis", int64_t{1}}});
}

ir::Expr NetBuilder::Conv(const ir::Expr& x, const ConvShape& shape) {
  const int64_t groups = shape.depthwise ? ChannelsOf(x) : 1;
  const Ints weight = {shape.channels, ChannelsOf(x) / groups, shape.kernel, shape.kernel};
  const double bound = std::sqrt(6.0 / static_cast<double>(weight[1] * weight[2] * weight[3]));
  return Call("nn.conv2d", {x, Uniform(weight, -bound, bound)},
              {{"strides", Ints(2, shape.stride)},
               {"padding", Ints(4, shape.padding)},
               {"dilation", Ints(2, 1)},
               {"groups", groups}});
}

ir::Expr NetBuilder::BatchNorm(const ir::Expr& x, double scale) {
  const Ints shape = {ChannelsOf(x)};
  const ir::Expr gamma = Uniform(shape, 0.8 * scale, 1.2 * scale);
  const ir::Expr beta = Uniform(shape, -0.125, 0.125);
  const ir::Expr mean = Uniform(shape, -0.125, 0.125);
  const ir::Expr variance = Uniform(shape, 0.8, 1.2);
  return Call("nn.batch_norm", {x, gamma, beta, mean, variance}, {{"epsilon", 1e-5}});
}

ir::Expr NetBuilder::ConvBnRelu(const ir::Expr& x, const ConvShape& shape) {
  return Relu(BatchNorm(Conv(x, shape)));
}

ir::Expr NetBuilder::ConvBiasRelu(const ir::Expr& x, const ConvShape& shape) {
  return Relu(Bias(Conv(x, shape), shape.channels));
}

ir::Expr NetBuilder::Dense(const ir::Expr& x, int64_t units, double gain) {
  const Ints weight = {units, x->type->tensor.shape.back()};
  const double bound = gain * std::sqrt(6.0 / static_cast<double>(weight[1]));
  return Bias(Call("nn.dense", {x, Uniform(weight, -bound, bound)}), units);
}

ir::Expr NetBuilder::Relu(const ir::Expr& x) { return Call("nn.relu", {x}); }

ir::Expr NetBuilder::Add(const ir::Expr& a, const ir::Expr& b) { return Call("add", {a, b}); }

ir::Expr NetBuilder::Concat(std::vector<ir::Expr> parts) {
  return Call("concatenate", {ops::TypedTuple(std::move(parts))}, {{"axis", int64_t{1}}});
}

ir::Expr NetBuilder::MaxPool(const ir::Expr& x, int64_t kernel, int64_t stride, int64_t padding) {
  return Call("nn.max_pool2d", {x},
              {{"pool_size", Ints(2, kernel)},
               {"strides", Ints(2, stride)},
               {"dilation", Ints(2, 1)},
               {"padding", Ints(4, padding)}});
}

ir::Expr NetBuilder::GlobalAvgPool(const ir::Expr& x) { return Call("nn.global_avg_pool2d", {x}); }

ir::Expr NetBuilder::Flatten(const ir::Expr& x) { return Call("nn.batch_flatten", {x}); }

ir::Expr NetBuilder::Softmax(const ir::Expr& x) {
  return Call("nn.softmax", {x}, {{"axis", int64_t{1}}});
}

}  // namespace hone::frontend
