#include "compiler/schedule/templates/conv2d_view.h"

#include "fmt/format.h"

namespace hone::schedule {

using loop::Buffer;

std::optional<Conv> ViewConv(const ops::KernelDefinition& def) {
  std::optional<AnchorView> view = ViewAnchor(def, {"nn.conv2d"});
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
  const absl::StatusOr<ops::Window> window =
      ops::ReadWindow(view->op->op, view->op->attrs, {weight->shape[2], weight->shape[3]});
  if (!window.ok()) return std::nullopt;
  conv.window = *window;
  const bool zeros = ir::GetAttr<int64_t>(view->op->attrs, "pad_value", 0) == 0;
  conv.pads = window->HasPadding() && view->prologue.size() == 1 && zeros && !conv.bytes;
  conv.data_height = operand->shape[2];
  conv.data_width = operand->shape[3];
  conv.batch = anchor->shape[0];
  conv.in = weight->shape[1];
  conv.out = weight->shape[0];
  conv.height = anchor->shape[2];
  conv.width = anchor->shape[3];
  conv.taps_h = weight->shape[2];
  conv.taps_w = weight->shape[3];
  conv.view = *std::move(view);
  return conv;
}

Layout BlockedChannels(int64_t lanes) { return *Layout::Parse(fmt::format("NCHW{}c", lanes), 4); }

namespace {

Layout LayoutOfOperand(const Task& task, const std::string& name) {
  const std::vector<Buffer> inputs = InputsOf(task.def->naive);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]->name == name) return task.signature.operands[i];
  }
  return Layout::RowMajor(4);
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
  conv.operand_blocked = LayoutOfOperand(task, conv.view.op->args[0]).BlockOf(1) == conv.lanes;
  // A padded copy is made in blocks wherever there are enough channels to fill them.
  conv.blocked_data =
      conv.copies_data ? conv.in >= conv.lanes : LayoutOfOperand(task, conv.data).BlockOf(1) > 1;
  if (conv.bytes) {
    conv.blocked_data = conv.in >= conv.lanes && conv.lanes > kDotBytes;
    conv.packs_data =
        !conv.copies_data && LayoutOfOperand(task, conv.data).BlockOf(1) != ChannelBlock(conv);
  }
  return conv;
}

}  // namespace hone::schedule
