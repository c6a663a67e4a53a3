#include <algorithm>

#include "compiler/schedule/templates/conv_view.h"
#include "compiler/schedule/templates/templates.h"

namespace hone::schedule {
namespace {

using loop::Buffer;

// `data_blocked`: of the anchor's operand; `result_blocked`: of the result and of what joins it
// elementwise.
ir::LayoutSignature SignatureFor(const ops::KernelDefinition& def, const AnchorView& view,
                                 int64_t lanes, bool data_blocked, bool result_blocked) {
  ir::LayoutSignature signature = RowMajorSignature(def);
  const auto block = [&](const Buffer& buffer, Layout* layout) {
    if (buffer->shape.size() != view.shape.size() || buffer->shape[1] < lanes) return;
    *layout = BlockedChannels(static_cast<int>(buffer->shape.size()), lanes);
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

namespace {

// Tensors of rank three are sequences of vectors more often than channels of a signal: they get
// blocks only in kernels that need not care, and in pools.
int LeastBlockedRank(const ops::KernelDefinition& def) {
  const bool any = std::all_of(def.ops.begin(), def.ops.end(), [](const ops::OpStage& op) {
    return op.kind <= ops::FuseKind::kBroadcast || op.op.find("pool1d") != std::string::npos ||
           op.op == "layout_transform";
  });
  return any ? 3 : 4;
}

}  // namespace

std::vector<ir::LayoutSignature> ElementwiseSignatures(const ops::KernelDefinition& def,
                                                       int64_t lanes) {
  const int least_rank = LeastBlockedRank(def);
  bool sequences = false;
  const auto blocked = [&](const Buffer& buffer) {
    const int rank = static_cast<int>(buffer->shape.size());
    if (rank < least_rank || rank > 5 || buffer->shape[1] < lanes) return Layout::RowMajor(rank);
    sequences = sequences || rank == 3;
    return BlockedChannels(rank, lanes);
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
  if (sequences && signatures.size() > 1) std::swap(signatures[0], signatures[1]);
  return signatures;
}

}  // namespace hone::schedule
