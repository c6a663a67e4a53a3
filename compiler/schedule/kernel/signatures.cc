#include <algorithm>
#include <utility>

#include "compiler/schedule/templates.h"

namespace hone::schedule {
namespace {

using loop::Buffer;

// `data_block`: of the anchor's operand; `result_block`: of the result and of what joins it
// elementwise. 0: row-major. Channels that whole vectors of `lanes` hold and whole blocks would pad
// are row-major: nothing computes such pads.
ir::LayoutSignature SignatureFor(const ops::KernelDefinition& def, const AnchorView& view,
                                 int64_t lanes, int64_t data_block, int64_t result_block) {
  ir::LayoutSignature signature = RowMajorSignature(def);
  const auto block = [&](const Buffer& buffer, int64_t channels, Layout* layout) {
    if (channels == 0 || buffer->shape.size() != view.shape.size()) return;
    const int64_t vectors = CeilDiv(buffer->shape[1], lanes);
    if (buffer->shape[1] < channels || vectors % (channels / lanes) != 0) return;
    *layout = BlockedChannels(static_cast<int>(buffer->shape.size()), channels);
  };
  const std::vector<Buffer> inputs = InputsOf(def.naive);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool anchor_data = inputs[i]->name == view.op->args[0];
    const bool anchor_weight = view.op->args.size() > 1 && inputs[i]->name == view.op->args[1];
    if (anchor_weight) continue;
    if (anchor_data) {
      block(inputs[i], data_block, &signature.operands[i]);
    } else if (inputs[i]->shape == view.shape) {
      block(inputs[i], result_block, &signature.operands[i]);
    }
  }
  block(OutputsOf(def.naive)[0], result_block, &signature.results[0]);
  return signature;
}

}  // namespace

std::vector<ir::LayoutSignature> BlockedSignatures(const ops::KernelDefinition& def,
                                                   const AnchorView& view, int64_t lanes,
                                                   int64_t wide) {
  std::vector<std::pair<int64_t, int64_t>> forms = {{lanes, lanes}, {0, lanes}, {lanes, 0}, {0, 0}};
  if (wide > 0) {
    forms.insert(forms.end(), {{wide, wide}, {lanes, wide}, {wide, lanes}, {0, wide}, {wide, 0}});
  }
  std::vector<ir::LayoutSignature> signatures;
  for (const auto& [data, result] : forms) {
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
