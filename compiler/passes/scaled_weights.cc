#include "compiler/passes/scaled_weights.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "compiler/ops/attrs.h"
#include "compiler/passes/rewriting.h"
#include "runtime/memory.h"

namespace hone::passes {

using ir::Expr;

// Pieces live as long as any constant in them.
class WeightMemory {
 public:
  ir::ConstantData Take(size_t size_bytes, uint8_t** writable) {
    constexpr size_t kSlab = size_t{32} << 20;
    constexpr size_t kAligned = 64;
    const size_t wanted = (size_bytes + kAligned - 1) / kAligned * kAligned;
    if (!slab_ || slab_->size_bytes() - used_ < wanted) {
      slab_ = std::make_shared<Memory>(std::max(kSlab, wanted));
      used_ = 0;
      if (slab_->data() == nullptr) {  // no huge block left: the allocator may still find one
        slab_.reset();
        const std::shared_ptr<uint8_t[]> own(new uint8_t[size_bytes + 1]);
        *writable = own.get();
        return {.owner = own, .bytes = own.get(), .size_bytes = size_bytes};
      }
    }
    *writable = slab_->data() + used_;
    used_ += wanted;
    return {.owner = slab_, .bytes = *writable, .size_bytes = size_bytes};
  }

 private:
  std::shared_ptr<Memory> slab_;
  size_t used_ = 0;
};

namespace {

std::vector<float> FloatsOf(const Expr& constant) {
  std::vector<float> values(static_cast<size_t>(constant->type->tensor.ElementCount()));
  std::memcpy(values.data(), constant->data.bytes, values.size() * sizeof(float));
  return values;
}

// Constants may lie at any address, results do not.
void ScaleRun(float factor, const uint8_t* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, from + static_cast<size_t>(i) * sizeof(float), sizeof(float));
    to[i] = value * factor;
  }
}

Expr Scaled(const Expr& weight, WeightMemory& memory, int64_t run,
            const std::function<float(int64_t)>& factor_of_run) {
  uint8_t* target = nullptr;
  const ir::ConstantData data = memory.Take(weight->data.size_bytes, &target);
  const int64_t runs = weight->type->tensor.ElementCount() / std::max<int64_t>(run, 1);
  for (int64_t r = 0; r < runs; ++r) {
    const size_t offset = static_cast<size_t>(r * run) * sizeof(float);
    ScaleRun(factor_of_run(r), weight->data.bytes + offset, run,
             reinterpret_cast<float*>(target + offset));
  }
  return ir::Constant(weight->type->tensor, data);
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

WeightScaler::WeightScaler() : memory_(std::make_unique<WeightMemory>()) {}
WeightScaler::~WeightScaler() = default;

Expr WeightScaler::ScaleOutputs(const Expr& weight, const Expr& scale) {
  const std::vector<float> factors = FloatsOf(scale);
  const int64_t rows = std::max<int64_t>(weight->type->tensor.shape[0], 1);
  return Scaled(weight, *memory_, weight->type->tensor.ElementCount() / rows, [&](int64_t row) {
    return factors[factors.size() == 1 ? 0 : static_cast<size_t>(row)];
  });
}

Expr WeightScaler::ScaleInputs(const Expr& weight, const Expr& scale, int64_t groups) {
  const std::vector<float> factors = FloatsOf(scale);
  const std::vector<int64_t>& shape = weight->type->tensor.shape;
  const int64_t in = std::max<int64_t>(shape[1], 1);
  const int64_t out_of_group = std::max<int64_t>(shape[0] / groups, 1);
  const int64_t taps = weight->type->tensor.ElementCount() / std::max<int64_t>(shape[0] * in, 1);
  return Scaled(weight, *memory_, taps, [&](int64_t run) {
    const int64_t channel = run / in / out_of_group * in + run % in;
    return factors[factors.size() == 1 ? 0 : static_cast<size_t>(channel)];
  });
}

}  // namespace hone::passes
