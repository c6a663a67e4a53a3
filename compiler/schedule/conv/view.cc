#include "compiler/schedule/conv/view.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "compiler/loop/visit.h"
#include "compiler/ops/conv_transpose.h"
#include "compiler/schedule/primitives/join_axes.h"
#include "compiler/schedule/primitives/nest_edit.h"

namespace hone::schedule {

using loop::Buffer;

namespace {

void SetExtents(Conv* conv) {
  int64_t* const extents[] = {&conv->width, &conv->height, &conv->depth};
  int64_t* const taps[] = {&conv->taps_w, &conv->taps_h, &conv->taps_d};
  for (size_t i = 0; i < conv->result_axes.size(); ++i) {
    const size_t axis = conv->result_axes.size() - 1 - i;
    *extents[i] = CeilDiv(conv->result_axes[axis], conv->phases[axis]);
    *taps[i] = conv->window.taps[axis];
  }
}

// The window of all phases together: what the first of them starts with and the last ends with.
ops::Window WindowOfPhases(const ops::Window& window, const ops::TransposedTaps& taps) {
  ops::Window phases = window;
  phases.taps = taps.count;
  phases.dilation = taps.step;
  for (size_t i = 0; i < taps.count.size(); ++i) {
    phases.strides[i] = 1;
    phases.before[i] = (taps.count[i] - 1) * taps.step[i] - window.before[i] / window.strides[i];
  }
  return phases;
}

// Whether windows read what lies outside the operand, and none of them nothing else along an axis.
bool LeavesData(const Conv& conv, const ops::Shape& operand) {
  bool leaves = false;
  for (size_t i = 0; i < conv.window.taps.size(); ++i) {
    const int64_t positions = CeilDiv(conv.result_axes[i], conv.phases[i]);
    const int64_t reach = (conv.window.taps[i] - 1) * conv.window.dilation[i];
    const int64_t last = (positions - 1) * conv.window.strides[i] - conv.window.before[i];
    if (conv.window.before[i] <= 0 && last + reach < operand[2 + i]) continue;
    if (conv.window.before[i] > reach || last >= operand[2 + i]) return false;
    leaves = true;
  }
  return leaves;
}

// The inputs of the result's shape that are read behind the sums, and nowhere else.
std::vector<std::string> JoinedTo(const ops::KernelDefinition& def, const AnchorView& view) {
  std::vector<std::string> behind = view.epilogue;
  if (!view.anchor_is_output) behind.push_back(view.output);
  const auto is_behind = [&](const loop::Launch& launch) {
    return std::ranges::any_of(behind, [&](const std::string& stage) {
      return Stores(launch.body, BufferOf(def.naive, stage));
    });
  };
  std::vector<std::string> joined;
  for (const Buffer& input : InputsOf(def.naive)) {
    if (input->shape != view.shape || input->dtype != DataType::kFloat32) continue;
    const bool is_joined = std::ranges::all_of(def.naive.launches, [&](const loop::Launch& launch) {
      return !Loads(launch.body, input) || is_behind(launch);
    });
    if (is_joined) joined.push_back(input->name);
  }
  return joined;
}

// What is the same of convolutions and transposed ones.
std::optional<Conv> ViewOperands(const ops::KernelDefinition& def, AnchorView view) {
  Conv conv;
  const Buffer weight = BufferOf(def.naive, view.op->args[1]);
  const Buffer anchor = BufferOf(def.naive, view.anchor);
  const Buffer operand = BufferOf(def.naive, view.op->args[0]);
  if (weight == nullptr || anchor == nullptr || operand == nullptr) return std::nullopt;
  const bool parameter =
      weight->role == loop::Role::kConstant || weight->role == loop::Role::kInput;
  const ProductKind kind = KindOfProduct(operand, weight, anchor);
  if (!parameter || kind == ProductKind::kOther) return std::nullopt;
  const ops::Shape taps(weight->shape.begin() + 2, weight->shape.end());
  const absl::StatusOr<ops::Window> window = ops::ReadWindow(view.op->op, view.op->attrs, taps);
  if (!window.ok()) return std::nullopt;
  conv.window = *window;
  conv.spatial = static_cast<int>(taps.size());
  conv.phases.assign(taps.size(), 1);
  conv.result_axes.assign(anchor->shape.begin() + 2, anchor->shape.end());
  conv.kind = kind;
  conv.weight = weight->name;
  conv.is_strict = def.numerics == ops::Numerics::kStrict;
  conv.weight_is_constant = weight->role == loop::Role::kConstant;
  conv.data_width = operand->shape.back();
  if (conv.spatial > 1) conv.data_height = operand->shape[operand->shape.size() - 2];
  if (conv.spatial == 3) conv.data_depth = operand->shape[2];
  conv.data_bytes = std::accumulate(operand->shape.begin() + 1, operand->shape.end(),
                                    int64_t{SizeBytes(operand->dtype)}, std::multiplies<>());
  const Buffer output = BufferOf(def.naive, view.output);
  conv.result_bytes = std::accumulate(output->shape.begin() + 1, output->shape.end(),
                                      int64_t{SizeBytes(output->dtype)}, std::multiplies<>());
  conv.result_is_float = output->dtype == DataType::kFloat32;
  conv.batch = anchor->shape[0];
  conv.groups = ir::GetAttr<int64_t>(view.op->attrs, "groups", 1);
  conv.channels = operand->shape[1];
  conv.in = conv.channels / conv.groups;
  conv.dot = conv.groups == 1 ? DotSteps(kind) : 1;
  conv.out = anchor->shape[1];
  conv.joined = JoinedTo(def, view);
  conv.view = std::move(view);
  return conv;
}

std::optional<Conv> ViewPlain(const ops::KernelDefinition& def, AnchorView view) {
  std::optional<Conv> conv = ViewOperands(def, std::move(view));
  if (!conv) return std::nullopt;
  // Depthwise convolutions of two axes have a template of their own.
  const bool depthwise = conv->groups > 1 && conv->in == 1 && conv->out == conv->channels;
  if (depthwise && conv->spatial == 2) return std::nullopt;
  const std::vector<std::string>& prologue = conv->view.prologue;
  conv->copies_data = !prologue.empty();
  conv->data = prologue.empty() ? conv->view.op->args[0] : prologue.back();
  const bool zeros = ir::GetAttr<int64_t>(conv->view.op->attrs, "pad_value", 0) == 0;
  conv->pads = prologue.size() == 1 && zeros && conv->kind == ProductKind::kFloat &&
               LeavesData(*conv, BufferOf(def.naive, conv->view.op->args[0])->shape);
  SetExtents(&*conv);
  return conv;
}

// The buffers whose product the anchor sums, in the definition's order.
std::vector<std::string> FactorsOf(const ops::KernelDefinition& def, const std::string& anchor) {
  std::vector<std::string> factors;
  const absl::StatusOr<size_t> writer = WriterOf(def.naive, BufferOf(def.naive, anchor));
  if (!writer.ok()) return factors;
  loop::Walk(
      def.naive.launches[*writer].body, [](const loop::Stmt&) { return true; },
      [&](const loop::Expr& e) {
        if (e->kind == loop::ExprKind::kLoad && e->buffer->name != anchor) {
          factors.push_back(e->buffer->name);
        }
      });
  return factors;
}

std::optional<Conv> ViewTransposed(const ops::KernelDefinition& def, AnchorView view) {
  std::optional<Conv> conv = ViewOperands(def, std::move(view));
  if (!conv || !ops::TransposedTaps::Exist(conv->window, conv->is_strict)) return std::nullopt;
  const std::vector<std::string> factors = FactorsOf(def, conv->view.anchor);
  if (factors.size() != 2) return std::nullopt;
  conv->transposed = true;
  conv->data = factors[0];
  conv->copies_data = conv->data != conv->view.op->args[0];
  if (factors[1] != conv->weight) {
    conv->weight_pad = factors[1];
    std::erase(conv->view.prologue, conv->weight_pad);
  }
  const ops::Shape operand = BufferOf(def.naive, conv->view.op->args[0])->shape;
  const ops::Shape result = BufferOf(def.naive, conv->view.anchor)->shape;
  const ops::TransposedTaps taps(conv->window, operand, result);
  for (size_t i = 0; i < conv->phases.size(); ++i) {
    conv->phases[i] = std::min(conv->window.strides[i], conv->result_axes[i]);
  }
  conv->window = WindowOfPhases(conv->window, taps);
  const bool one_phase = std::all_of(conv->phases.begin(), conv->phases.end(),
                                     [](int64_t phases) { return phases == 1; });
  conv->pads = conv->copies_data && conv->view.prologue.size() == 1 && one_phase &&
               conv->kind == ProductKind::kFloat && LeavesData(*conv, operand);
  SetExtents(&*conv);
  return conv;
}

}  // namespace

namespace {

// Slices of the result for which the tap of the depth lies inside the data.
int64_t SlicesInside(const Conv& conv, int64_t tap) {
  int64_t slices = 0;
  for (int64_t slice = 0; slice < conv.depth; ++slice) {
    const int64_t at =
        slice * conv.window.strides[0] + tap * conv.window.dilation[0] - conv.window.before[0];
    slices += at >= 0 && at < conv.data_depth ? 1 : 0;
  }
  return slices;
}

}  // namespace

Loop Conv::Axis(const Stage& stage, int from_last) const {
  return stage.Axis(static_cast<size_t>(rank() - from_last));
}

Loop Conv::Tap(const Stage& stage, int from_last) const {
  return stage.Reduction(static_cast<size_t>(spatial + 1 - from_last));
}

int64_t Conv::MeanDepthTaps() const {
  if (!PadsSlices()) return taps_d;
  int64_t inside = 0;
  for (int64_t tap = 0; tap < taps_d; ++tap) inside += SlicesInside(*this, tap);
  return CeilDiv(inside, depth);
}

int64_t Conv::UsedDepthTaps() const {
  if (!PadsSlices()) return taps_d;
  int64_t used = 0;
  for (int64_t tap = 0; tap < taps_d; ++tap) used += SlicesInside(*this, tap) > 0 ? 1 : 0;
  return used;
}

std::optional<Conv> ViewConv(const ops::KernelDefinition& def) {
  if (std::optional<AnchorView> view = ViewAnchor(def, {"nn.conv1d", "nn.conv2d", "nn.conv3d"})) {
    return ViewPlain(def, *std::move(view));
  }
  if (std::optional<AnchorView> view =
          ViewAnchor(def, {"nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose"})) {
    return ViewTransposed(def, *std::move(view));
  }
  return std::nullopt;
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

// Operands that are broadcast along one of the axes, for one, keep them apart.
bool JoinsPixels(const Task& task, const Conv& conv) {
  if (conv.Taps() != 1 || !AllRowMajor(task.signature)) return false;
  loop::Nest nest = task.def->naive;
  for (int axis = 1; axis < conv.spatial; ++axis) {
    if (!JoinLastAxes(&nest, conv.view.output).ok()) return false;
  }
  return true;
}

// Lanes of a transposed convolution read weights that no layout makes neighbours where their groups
// have several channels of the data.
bool VectorsFit(const Conv& conv, int64_t lanes) {
  const int64_t width = conv.GroupOut();
  if (conv.groups == 1) return true;
  if (width >= lanes) return width % lanes == 0;
  if (lanes % width != 0 || (conv.transposed && conv.in > 1)) return false;
  return lanes % (lanes / width * conv.in) == 0;
}

// The most that fit, of the target's, halves and quarters: fewer than four are hardly a vector.
int64_t LanesThatFit(const Conv& conv, int64_t lanes) {
  constexpr int64_t kFewest = 4;
  for (int64_t fewer = lanes; fewer == lanes || fewer >= kFewest; fewer /= 2) {
    if (VectorsFit(conv, fewer)) return fewer;
  }
  return lanes;
}

// Grouped convolutions that were scheduled so before others were: of whole vectors of one group, or
// of as many channels in as out.
bool IsPlainlyGrouped(const Conv& conv, int64_t lanes) {
  if (conv.transposed || conv.kind == ProductKind::kBytes || conv.out % lanes != 0) return false;
  return VectorsFit(conv, lanes) && (conv.GroupOut() >= lanes || conv.in == conv.GroupOut());
}

}  // namespace

int64_t ChannelBlock(const Conv& conv) { return conv.blocked_data ? conv.lanes : conv.dot; }

Conv ConvOf(const Task& task) {
  Conv conv = *ViewConv(*task.def);
  conv.machine = task.machine;
  conv.target_lanes = conv.machine.vector.FloatLanes();
  conv.lanes = LanesThatFit(conv, conv.target_lanes);
  conv.has_stages = conv.groups > 1 && !IsPlainlyGrouped(conv, conv.target_lanes);
  if (conv.kind == ProductKind::kFloat) {
    conv.times = task.micro_kernels;
    conv.stream_bytes = StreamBytesOf(task.micro_kernels.get(), task.machine);
  }
  conv.out_vectors = CeilDiv(conv.out, conv.lanes);
  conv.result_block = task.signature.results[0].BlockOf(1);
  conv.copies_result = conv.groups > 1 && CeilDiv(conv.out, conv.result_block) * conv.result_block >
                                              conv.out_vectors * conv.lanes;
  conv.joins_pixels = JoinsPixels(task, conv);
  conv.operand_block = BlockOfOperand(task, conv.view.op->args[0]);
  conv.operand_blocked = conv.operand_block == conv.lanes;
  // A padded copy is made in blocks wherever there are enough channels to fill them.
  conv.blocked_data =
      conv.copies_data ? conv.channels >= conv.lanes : BlockOfOperand(task, conv.data) > 1;
  // Pairs of a group are neighbours where blocks of the data are of one group.
  if (conv.groups > 1 && !conv.LanesDiffer() && conv.in % conv.lanes == 0) {
    conv.dot = DotSteps(conv.kind);
  }
  if (conv.Dots()) {
    conv.blocked_data = conv.in >= conv.lanes && conv.lanes > conv.dot;
    conv.packs_data = !conv.copies_data && BlockOfOperand(task, conv.data) != ChannelBlock(conv);
  }
  if (conv.LanesDiffer() && !conv.blocked_data) {
    conv.blocked_data = true;
    conv.packs_data = !conv.copies_data;
  }
  return conv;
}

bool VectorsFitGroups(const Conv& conv) { return VectorsFit(conv, conv.lanes); }

bool SomeVectorsFitGroups(const Conv& conv, const machine::Machine& machine) {
  return VectorsFit(conv, LanesThatFit(conv, machine.vector.FloatLanes()));
}

}  // namespace hone::schedule
