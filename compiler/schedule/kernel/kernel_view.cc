#include "compiler/schedule/kernel/kernel_view.h"

#include <algorithm>
#include <set>

#include "compiler/loop/accumulation.h"
#include "compiler/loop/visit.h"
#include "compiler/schedule/primitives/nest_edit.h"
#include "fmt/format.h"

namespace hone::schedule {

using loop::Buffer;
using loop::StmtKind;

loop::Buffer BufferOf(const loop::Nest& nest, std::string_view name) {
  for (const Buffer& buffer : nest.buffers) {
    if (buffer->name == name) return buffer;
  }
  return nullptr;
}

std::vector<Buffer> InputsOf(const loop::Nest& nest) {
  std::vector<Buffer> inputs;
  for (const Buffer& buffer : nest.buffers) {
    if (buffer->role == loop::Role::kInput) inputs.push_back(buffer);
  }
  return inputs;
}

std::vector<Buffer> OutputsOf(const loop::Nest& nest) {
  std::vector<Buffer> outputs;
  for (const Buffer& buffer : nest.buffers) {
    if (buffer->role == loop::Role::kOutput) outputs.push_back(buffer);
  }
  return outputs;
}

StageForm FormOf(const loop::Launch& launch) {
  const loop::Stmt s = loop::InsideLoops(launch.body);
  if (s->kind == StmtKind::kStore) return {s->buffer->name, false};
  if (s->kind == StmtKind::kSeq && s->body.size() == 2 && s->body[0]->kind == StmtKind::kStore) {
    return {s->body[0]->buffer->name, true};
  }
  return {};
}

namespace {

// Moves stages that stand before the anchor and that it does not read, directly or through others,
// to the front of the epilogue: they are of another operand of what follows.
void KeepWhatFeedsTheAnchor(const loop::Nest& naive, AnchorView* view) {
  std::set<std::string> needed = {view->anchor};
  std::vector<std::string> feeds;
  std::vector<std::string> others;
  const auto is_read = [&](const std::string& stage) {
    const Buffer buffer = BufferOf(naive, stage);
    return std::any_of(naive.launches.begin(), naive.launches.end(), [&](const auto& launch) {
      return needed.contains(FormOf(launch).buffer) && Loads(launch.body, buffer);
    });
  };
  for (size_t i = view->prologue.size(); i-- > 0;) {
    std::string& stage = view->prologue[i];
    const bool feeds_anchor = is_read(stage);
    if (feeds_anchor) needed.insert(stage);
    (feeds_anchor ? feeds : others).push_back(std::move(stage));
  }
  view->prologue.assign(feeds.rbegin(), feeds.rend());
  view->epilogue.insert(view->epilogue.begin(), others.rbegin(), others.rend());
}

const ops::OpStage* FindAnchor(const ops::KernelDefinition& def,
                               std::initializer_list<std::string_view> anchors) {
  const ops::OpStage* anchor = nullptr;
  for (const ops::OpStage& op : def.ops) {
    if (op.kind < ops::FuseKind::kReduction) {
      if (anchor != nullptr && op.kind > ops::FuseKind::kBroadcast) return nullptr;
      continue;
    }
    if (anchor != nullptr) return nullptr;
    if (std::find(anchors.begin(), anchors.end(), op.op) == anchors.end()) return nullptr;
    anchor = &op;
  }
  return anchor;
}

}  // namespace

std::optional<AnchorView> ViewAnchor(const ops::KernelDefinition& def,
                                     std::initializer_list<std::string_view> anchors) {
  AnchorView view;
  view.op = FindAnchor(def, anchors);
  if (view.op == nullptr) return std::nullopt;
  const std::vector<Buffer> outputs = OutputsOf(def.naive);
  if (outputs.size() != 1) return std::nullopt;
  view.output = outputs[0]->name;
  view.shape = outputs[0]->shape;
  for (const loop::Launch& launch : def.naive.launches) {
    StageForm form = FormOf(launch);
    if (form.buffer.empty()) return std::nullopt;
    if (form.reduction) {
      if (!view.anchor.empty()) return std::nullopt;
      view.anchor = std::move(form.buffer);
    } else if (view.anchor.empty()) {
      view.prologue.push_back(std::move(form.buffer));
    } else if (form.buffer != view.output) {
      view.epilogue.push_back(std::move(form.buffer));
    }
  }
  const Buffer anchor = BufferOf(def.naive, view.anchor);
  if (anchor == nullptr || anchor->shape != view.shape) return std::nullopt;
  view.anchor_is_output = view.anchor == view.output;
  KeepWhatFeedsTheAnchor(def.naive, &view);
  return view;
}

ir::LayoutSignature RowMajorSignature(const ops::KernelDefinition& def) {
  ir::LayoutSignature signature;
  for (const Buffer& input : InputsOf(def.naive)) {
    signature.operands.push_back(Layout::RowMajor(static_cast<int>(input->shape.size())));
  }
  for (const Buffer& output : OutputsOf(def.naive)) {
    signature.results.push_back(Layout::RowMajor(static_cast<int>(output->shape.size())));
  }
  return signature;
}

bool AllRowMajor(const ir::LayoutSignature& signature) {
  const auto row_major = [](const Layout& layout) {
    return layout.rank() == 0 || layout.IsRowMajor();
  };
  return std::all_of(signature.operands.begin(), signature.operands.end(), row_major) &&
         std::all_of(signature.results.begin(), signature.results.end(), row_major);
}

size_t InnermostDim(const Layout& layout, const std::vector<int64_t>& shape) {
  const std::vector<int64_t> physical = layout.PhysicalShape(shape);
  size_t dim = physical.size() - 1;
  while (dim > 0 && physical[dim] == 1) --dim;
  return physical[dim] == 1 ? physical.size() - 1 : dim;
}

size_t InnermostAxis(const Layout& layout, const std::vector<int64_t>& shape) {
  return static_cast<size_t>(layout.dims()[InnermostDim(layout, shape)].axis);
}

absl::Status CheckSignature(const Task& task) {
  const std::vector<Buffer> inputs = InputsOf(task.def->naive);
  const std::vector<Buffer> outputs = OutputsOf(task.def->naive);
  const auto fits = [](const std::vector<Buffer>& buffers, const std::vector<Layout>& layouts) {
    return std::equal(buffers.begin(), buffers.end(), layouts.begin(), layouts.end(),
                      [](const Buffer& buffer, const Layout& layout) {
                        return static_cast<int>(buffer->shape.size()) == layout.rank();
                      });
  };
  if (fits(inputs, task.signature.operands) && fits(outputs, task.signature.results)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("the signature '{}' must have a layout for each of {} operands and {} results",
                  task.signature.ToString(), inputs.size(), outputs.size()));
}

ProductKind KindOfProduct(const Buffer& data, const Buffer& weight, const Buffer& sums) {
  const auto is_byte = [](const Buffer& buffer) {
    return buffer->dtype == DataType::kInt8 || buffer->dtype == DataType::kUInt8;
  };
  const auto are = [&](DataType dtype) { return data->dtype == dtype && weight->dtype == dtype; };
  if (sums->dtype == DataType::kInt32) {
    return is_byte(data) && is_byte(weight) ? ProductKind::kBytes : ProductKind::kOther;
  }
  if (sums->dtype != DataType::kFloat32) return ProductKind::kOther;
  if (are(DataType::kFloat32)) return ProductKind::kFloat;
  return are(DataType::kBFloat16) ? ProductKind::kBFloat16 : ProductKind::kOther;
}

int64_t DotSteps(ProductKind kind) {
  switch (kind) {
    case ProductKind::kBytes:
      return loop::DotSteps(DataType::kInt8);
    case ProductKind::kBFloat16:
      return loop::DotSteps(DataType::kBFloat16);
    default:
      return 1;
  }
}

Layout BlockedLayout(int rank, int axis, int64_t size) {
  const std::string letters = AxisLetters(rank);
  const auto block = static_cast<char>(letters[static_cast<size_t>(axis)] - 'A' + 'a');
  return *Layout::Parse(fmt::format("{}{}{}", letters, size, block), rank);
}

Knob IntKnob(std::string name, const std::vector<int64_t>& options, std::optional<int64_t> legacy) {
  Knob knob;
  knob.name = std::move(name);
  for (int64_t option : options) knob.options.emplace_back(option);
  if (legacy) knob.legacy_value = *legacy;
  return knob;
}

Knob TextKnob(std::string name, const std::vector<std::string>& options,
              std::optional<std::string> legacy) {
  Knob knob;
  knob.name = std::move(name);
  for (const std::string& option : options) knob.options.emplace_back(option);
  if (legacy) knob.legacy_value = *legacy;
  return knob;
}

Layout BlockedChannels(int rank, int64_t lanes) { return BlockedLayout(rank, 1, lanes); }

}  // namespace hone::schedule
