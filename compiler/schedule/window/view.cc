#include "compiler/schedule/window/view.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "compiler/ops/attrs.h"
#include "compiler/schedule/ceil_div.h"
#include "support/status.h"

namespace hone::schedule {
namespace {

using loop::Buffer;

constexpr int64_t kMaxPeeled = 2;  // tiles at one end: wider borders would multiply the code

absl::StatusOr<ops::Window> WindowOf(const AnchorView& view, const Buffer& data,
                                     const Buffer& weight) {
  const std::string& op = view.op->op;
  if (weight != nullptr) {
    return ops::ReadWindow(op, view.op->attrs, {weight->shape[2], weight->shape[3]});
  }
  if (op.find("global") != std::string::npos) {
    return ops::ReadWindow(op, {}, ops::Shape(data->shape.begin() + 2, data->shape.end()));
  }
  ops::Shape taps = ops::IntsAttr(view.op->attrs, "pool_size", {1});
  if (taps.size() == 1) taps.assign(data->shape.size() - 2, taps[0]);
  return ops::ReadWindow(op, view.op->attrs, taps);
}

// Whether this is a pool of floats, or of the largest of bytes. Means of bfloat16 are summed in
// float32.
bool IsPoolOf(DataType data, DataType anchor) {
  const bool byte = data == DataType::kInt8 || data == DataType::kUInt8;
  if (data == DataType::kBFloat16) return anchor == data || anchor == DataType::kFloat32;
  return data == anchor && (data == DataType::kFloat32 || byte);
}

}  // namespace

std::optional<Windowed> ViewWindowed(const ops::KernelDefinition& def, bool depthwise) {
  std::optional<AnchorView> view =
      depthwise
          ? ViewAnchor(def, {"nn.conv2d"})
          : ViewAnchor(def, {"nn.max_pool1d", "nn.avg_pool1d", "nn.global_max_pool1d",
                             "nn.global_avg_pool1d", "nn.max_pool2d", "nn.avg_pool2d",
                             "nn.global_max_pool2d", "nn.global_avg_pool2d", "nn.max_pool3d",
                             "nn.avg_pool3d", "nn.global_max_pool3d", "nn.global_avg_pool3d"});
  if (!view) return std::nullopt;
  Windowed w;
  w.depthwise = depthwise;
  const Buffer data = BufferOf(def.naive, view->op->args[0]);
  const Buffer anchor = BufferOf(def.naive, view->anchor);
  Buffer weight;
  if (data == nullptr || anchor == nullptr) return std::nullopt;
  if (depthwise) {
    weight = BufferOf(def.naive, view->op->args[1]);
    if (weight == nullptr || weight->shape[1] != 1 || weight->shape[0] != data->shape[1] ||
        (weight->role != loop::Role::kConstant && weight->role != loop::Role::kInput)) {
      return std::nullopt;
    }
    if (KindOfProduct(data, weight, anchor) == ProductKind::kOther) return std::nullopt;
    w.weight = weight->name;
    w.weight_is_constant = weight->role == loop::Role::kConstant;
  } else if (!IsPoolOf(data->dtype, anchor->dtype)) {
    return std::nullopt;
  }
  const absl::StatusOr<ops::Window> window = WindowOf(*view, data, weight);
  if (!window.ok()) return std::nullopt;
  w.window = *window;
  if (!view->prologue.empty()) w.copy = view->prologue.back();
  const bool zeros = ir::GetAttr<int64_t>(view->op->attrs, "pad_value", 0) == 0;
  w.pads = depthwise && window->HasPadding() && view->prologue.size() == 1 && zeros;
  w.is_strict = def.numerics == ops::Numerics::kStrict;
  w.is_float = data->dtype == DataType::kFloat32;
  w.data_shape = data->shape;
  w.channels = anchor->shape[1];
  w.spatial = static_cast<int>(anchor->shape.size()) - 2;
  w.width = anchor->shape.back();
  if (w.spatial > 1) w.height = anchor->shape[anchor->shape.size() - 2];
  if (w.spatial > 2) w.depth = anchor->shape[2];
  w.view = *std::move(view);
  return w;
}

Windowed WindowedOf(const Task& task, bool depthwise) {
  Windowed w = *ViewWindowed(*task.def, depthwise);
  w.lanes = task.machine.vector.FloatLanes();
  w.registers = task.machine.vector.registers;
  w.vectors = CeilDiv(w.channels, w.lanes);
  return w;
}

int64_t Windowed::Taps() const {
  return std::accumulate(window.taps.begin(), window.taps.end(), int64_t{1}, std::multiplies<>());
}

std::vector<std::string> Windowed::PadOptions() const {
  if (copy.empty()) return {"border"};
  if (pads) return {"border", "copy"};
  return {"copy"};
}

Border Windowed::PeeledBorder(int axis, int64_t tile) const {
  if (spatial + axis < 0) return {};
  const auto at = static_cast<size_t>(rank() + axis);
  const int64_t extent = view.shape[at];
  const Border border = BorderOf(window, spatial + axis, data_shape[at], extent, tile);
  return WithoutWideEnds(border, kMaxPeeled, extent, tile);
}

std::vector<int64_t> CountsUpTo(int64_t limit, int64_t extent, int64_t fits) {
  std::vector<int64_t> options;
  for (int64_t i = 1; i <= std::min({limit, extent, fits}); ++i) options.push_back(i);
  if (options.empty()) options.push_back(1);
  return options;
}

}  // namespace hone::schedule
