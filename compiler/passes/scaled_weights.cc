#include "compiler/passes/scaled_weights.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/attrs.h"
#include "compiler/passes/rewriting.h"

namespace hone::passes {

using ir::Expr;

namespace {

std::vector<float> FloatsOf(const Expr& constant) {
  std::vector<float> values(static_cast<size_t>(constant->type->tensor.ElementCount()));
  constant->data.CopyTo(reinterpret_cast<uint8_t*>(values.data()));
  return values;
}

// `count` floats at `values`, which may lie at any address.
void ScaleRun(float factor, int64_t count, uint8_t* values) {
  for (int64_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, values + static_cast<size_t>(i) * sizeof(float), sizeof(float));
    value *= factor;
    std::memcpy(values + static_cast<size_t>(i) * sizeof(float), &value, sizeof(float));
  }
}

// Each run of `run` elements times a factor of its own, once the weights are read.
Expr Scaled(const Expr& weight, int64_t run, std::function<float(int64_t)> factor_of_run) {
  const int64_t runs = weight->type->tensor.ElementCount() / std::max<int64_t>(run, 1);
  const auto scale = [run, runs, factor_of_run = std::move(factor_of_run)](uint8_t* bytes) {
    for (int64_t r = 0; r < runs; ++r) {
      ScaleRun(factor_of_run(r), run, bytes + static_cast<size_t>(r * run) * sizeof(float));
    }
  };
  return ir::Constant(weight->type->tensor, ir::ConstantData::Changed(weight->data, scale));
}

bool HasChannelsFirst(const ir::ExprNode& conv) {
  const std::string data = ops::StringAttr(conv.attrs, "data_layout", "NC");
  const std::string kernel = ops::StringAttr(conv.attrs, "kernel_layout", "OI");
  return (data.empty() || data.starts_with("NC")) && (kernel.empty() || kernel.starts_with("OI"));
}

}  // namespace

bool IsWeighted(const Expr& e, Weighted* weighted) {
  const bool dense = ir::IsCall(e, "nn.dense");
  const bool conv =
      ir::IsCall(e, "nn.conv1d") || ir::IsCall(e, "nn.conv2d") || ir::IsCall(e, "nn.conv3d");
  if ((!dense && !conv) || (conv && !HasChannelsFirst(*e))) return false;
  if (conv && ops::IntAttr(e->attrs, "pad_value", 0) != 0) return false;  // it would be scaled too
  if (!e->type || e->args.size() != 2 || !e->args[0]->type || !IsConstant(e->args[1])) return false;
  const ir::TensorType& weight = e->args[1]->type->tensor;
  const ir::TensorType& data = e->args[0]->type->tensor;
  if (weight.dtype != DataType::kFloat32 || data.dtype != DataType::kFloat32) return false;
  const auto rank = [](const ir::TensorType& type) {
    return static_cast<int64_t>(type.shape.size());
  };
  *weighted = {.input_axis = dense ? rank(data) - 1 : 1,
               .output_axis = dense ? rank(e->type->tensor) - 1 : 1,
               .input_channels = 0,
               .output_channels = weight.shape[0],
               .groups = conv ? ops::IntAttr(e->attrs, "groups", 1) : 1};
  weighted->input_channels = data.shape[static_cast<size_t>(weighted->input_axis)];
  return true;
}

Expr ScaleOutputs(const Expr& weight, const Expr& scale) {
  const int64_t rows = std::max<int64_t>(weight->type->tensor.shape[0], 1);
  return Scaled(weight, weight->type->tensor.ElementCount() / rows,
                [factors = FloatsOf(scale)](int64_t row) {
                  return factors[factors.size() == 1 ? 0 : static_cast<size_t>(row)];
                });
}

Expr ScaleInputs(const Expr& weight, const Expr& scale, int64_t groups) {
  const std::vector<int64_t>& shape = weight->type->tensor.shape;
  const int64_t in = std::max<int64_t>(shape[1], 1);
  const int64_t out_of_group = std::max<int64_t>(shape[0] / groups, 1);
  const int64_t taps = weight->type->tensor.ElementCount() / std::max<int64_t>(shape[0] * in, 1);
  return Scaled(weight, taps, [factors = FloatsOf(scale), in, out_of_group](int64_t run) {
    const int64_t channel = run / in / out_of_group * in + run % in;
    return factors[factors.size() == 1 ? 0 : static_cast<size_t>(channel)];
  });
}

}  // namespace hone::passes
