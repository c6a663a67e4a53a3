#include <algorithm>

#include "compiler/schedule/templates/templates.h"
#include "fmt/format.h"

namespace hone::schedule {
namespace {

using loop::Buffer;

// `data_blocked`: of the anchor's operand; `result_blocked`: of the result and of what joins it
// elementwise.
ir::LayoutSignature SignatureFor(const ops::KernelDefinition& def, const AnchorView& view,
                                 int64_t lanes, bool data_blocked, bool result_blocked) {
  ir::LayoutSignature signature = RowMajorSignature(def);
  const auto block = [&](const Buffer& buffer, Layout* layout) {
    if (buffer->shape.size() != 4 || buffer->shape[1] < lanes) return;
    *layout = *Layout::Parse(fmt::format("NCHW{}c", lanes), 4);
  };
  const std::vector<Buffer> inputs = InputsOf(def.naive);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool anchor_data = inputs[i]->name == view.op->args[0];
    const bool anchor_weight = view.op->args.size() > 1 && inputs[i]->name == view.op->args[1];
    if (anchor_weight) continue;
    if (anchor_data ? data_blocked : (result_blocked && inputs[i]->shape == view.shape)) {
      block(inputs[i], &signature.operands[i]);
    }
  }
  if (result_blocked) block(OutputsOf(def.naive)[0], &signature.results[0]);
  return signature;
}

}  // namespace

std::vector<ir::LayoutSignature> BlockedSignatures(const ops::KernelDefinition& def,
                                                   const AnchorView& view, int64_t lanes) {
  std::vector<ir::LayoutSignature> signatures;
  constexpr bool kForms[4][2] = {{true, true}, {false, true}, {true, false}, {false, false}};
  for (const auto& [data, result] : kForms) {
    ir::LayoutSignature signature = SignatureFor(def, view, lanes, data, result);
    if (std::find(signatures.begin(), signatures.end(), signature) == signatures.end()) {
      signatures.push_back(std::move(signature));
    }
  }
  return signatures;
}

std::vector<ir::LayoutSignature> ElementwiseSignatures(const ops::KernelDefinition& def,
                                                       int64_t lanes) {
  const auto blocked = [&](const Buffer& buffer) {
    return buffer->shape.size() == 4 && buffer->shape[1] >= lanes
               ? *Layout::Parse(fmt::format("NCHW{}c", lanes), 4)
               : Layout::RowMajor(static_cast<int>(buffer->shape.size()));
  };
  std::vector<ir::LayoutSignature> signatures;
  constexpr bool kForms[4][2] = {{true, true}, {false, false}, {false, true}, {true, false}};
  for (const auto& [operands, results] : kForms) {
    ir::LayoutSignature signature = RowMajorSignature(def);
    const std::vector<Buffer> inputs = InputsOf(def.naive);
    const std::vector<Buffer> outputs = OutputsOf(def.naive);
    for (size_t i = 0; operands && i < inputs.size(); ++i) {
      signature.operands[i] = blocked(inputs[i]);
    }
    for (size_t i = 0; results && i < outputs.size(); ++i) {
      signature.results[i] = blocked(outputs[i]);
    }
    if (std::find(signatures.begin(), signatures.end(), signature) == signatures.end()) {
      signatures.push_back(std::move(signature));
    }
  }
  return signatures;
}

}  // namespace hone::schedule
