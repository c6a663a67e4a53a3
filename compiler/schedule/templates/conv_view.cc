#include "compiler/schedule/templates/conv_view.h"

#include "fmt/format.h"

namespace hone::schedule {

using loop::Buffer;

namespace {

// Of the result of shape `shape`.
void SetExtents(Conv* conv, const ops::Shape& shape, const ops::Shape& taps) {
  int64_t* const extents[] = {&conv->width, &conv->height, &conv->depth};
  int64_t* const tap_counts[] = {&conv->taps_w, &conv->taps_h, &conv->taps_d};
  for (size_t i = 0; i < taps.size(); ++i) {
    *extents[i] = shape[shape.size() - 1 - i];
    *tap_counts[i] = taps[taps.size() - 1 - i];
  }
}

}  // namespace

std::optional<Conv> ViewConv(const ops::KernelDefinition& def) {
  std::optional<AnchorView> view = ViewAnchor(def, {"nn.conv1d", "nn.conv2d", "nn.conv3d"});
  if (!view) return std::nullopt;
  Conv conv;
  const Buffer weight = BufferOf(def.naive, view->op->args[1]);
  const Buffer anchor = BufferOf(def.naive, view->anchor);
  const Buffer operand = BufferOf(def.naive, view->op->args[0]);
  if (weight == nullptr || anchor == nullptr || operand == nullptr) return std::nullopt;
  const bool parameter =
      weight->role == loop::Role::kConstant || weight->role == loop::Role::kInput;
  const ProductKind kind = KindOfProduct(operand, weight, anchor);
  if (!parameter || kind == ProductKind::kOther ||
      weight->shape[1] != operand->shape[1]) {  // groups
    return std::nullopt;
  }
  conv.bytes = kind == ProductKind::kBytes;
  conv.weight = weight->name;
  conv.is_strict = def.numerics == ops::Numerics::kStrict;
  conv.weight_is_constant = weight->role == loop::Role::kConstant;
  conv.data = view->prologue.empty() ? view->op->args[0] : view->prologue.back();
  conv.copies_data = !view->prologue.empty();
  const ops::Shape taps(weight->shape.begin() + 2, weight->shape.end());
  const absl::StatusOr<ops::Window> window = ops::ReadWindow(view->op->op, view->op->attrs, taps);
  if (!window.ok()) return std::nullopt;
  conv.window = *window;
  const bool zeros = ir::GetAttr<int64_t>(view->op->attrs, "pad_value", 0) == 0;
  conv.pads = window->HasPadding() && view->prologue.size() == 1 && zeros && !conv.bytes;
  conv.spatial = static_cast<int>(taps.size());
  conv.data_width = operand->shape.back();
  conv.batch = anchor->shape[0];
  conv.in = weight->shape[1];
  conv.out = weight->shape[0];
  SetExtents(&conv, anchor->shape, taps);
  conv.view = *std::move(view);
  return conv;
}

Layout BlockedChannels(int rank, int64_t lanes) {
  return *Layout::Parse(fmt::format("{}{}c", AxisLetters(rank), lanes), rank);
}

namespace {

// Channels of a block of an input; 1 of anything else.
int64_t BlockOfOperand(const Task& task, const std::string& name) {
  const std::vector<Buffer> inputs = InputsOf(task.def->naive);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]->name == name) return task.signature.operands[i].BlockOf(1);
  }
  return 1;
}

}  // namespace

int64_t ChannelBlock(const Conv& conv) {
  return conv.blocked_data ? conv.lanes : conv.ChannelsOfStep();
}

Conv ConvOf(const Task& task) {
  Conv conv = *ViewConv(*task.def);
  conv.lanes = task.target.VectorLanes();
  conv.registers = task.target.VectorRegisters();
  conv.out_vectors = CeilDiv(conv.out, conv.lanes);
  conv.operand_blocked = BlockOfOperand(task, conv.view.op->args[0]) == conv.lanes;
  // A padded copy is made in blocks wherever there are enough channels to fill them.
  conv.blocked_data =
      conv.copies_data ? conv.in >= conv.lanes : BlockOfOperand(task, conv.data) > 1;
  if (conv.bytes) {
    conv.blocked_data = conv.in >= conv.lanes && conv.lanes > kDotBytes;
    conv.packs_data = !conv.copies_data && BlockOfOperand(task, conv.data) != ChannelBlock(conv);
  }
  return conv;
}

}  // namespace hone::schedule
