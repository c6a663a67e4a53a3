#include "compiler/ops/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/attrs.h"
#include "support/status.h"

namespace hone::ops {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 31;  // keeps sums of a few of them far from overflow

// One entry an axis: given once for all, or one each.
absl::StatusOr<Shape> PerAxis(const std::string& op, const ir::Attrs& attrs,
                              const std::string& name, size_t axes) {
  Shape values = IntsAttr(attrs, name, Shape(axes, 1));
  if (values.size() == 1) values.assign(axes, values[0]);
  const bool in_range =
      std::all_of(values.begin(), values.end(), [](int64_t v) { return v >= 1 && v < kMaxExtent; });
  if (values.size() != axes || !in_range) {
    return AttrError(op, name, fmt::format("{} positive integers below {}", axes, kMaxExtent),
                     ShapeText(values));
  }
  return values;
}

absl::Status ReadPadding(const std::string& op, const ir::Attrs& attrs, size_t axes,
                         Window* window) {
  Shape pads = IntsAttr(attrs, "padding", Shape(axes, 0));
  if (pads.size() == 1) pads.assign(axes, pads[0]);
  if (pads.size() == axes) pads.insert(pads.end(), pads.begin(), pads.begin() + axes);
  const bool in_range =
      std::all_of(pads.begin(), pads.end(), [](int64_t v) { return v >= 0 && v < kMaxExtent; });
  if (pads.size() != 2 * axes || !in_range) {
    return AttrError(
        op, "padding",
        fmt::format("1, {} or {} integers from 0 and below {}", axes, 2 * axes, kMaxExtent),
        ShapeText(IntsAttr(attrs, "padding")));
  }
  window->before.assign(pads.begin(), pads.begin() + axes);
  window->after.assign(pads.begin() + axes, pads.end());
  return absl::OkStatus();
}

}  // namespace

bool Window::HasPadding() const {
  const auto positive = [](int64_t v) { return v > 0; };
  return std::any_of(before.begin(), before.end(), positive) ||
         std::any_of(after.begin(), after.end(), positive);
}

int64_t Window::Positions(size_t i, int64_t extent) const {
  const int64_t reach = dilation[i] * (taps[i] - 1) + 1;
  const int64_t room = extent + before[i] + after[i] - reach;
  if (room < 0) return 0;
  int64_t positions = (ceil_mode ? (room + strides[i] - 1) / strides[i] : room / strides[i]) + 1;
  if (ceil_mode && (positions - 1) * strides[i] >= extent + before[i]) --positions;
  return positions;
}

absl::StatusOr<Window> ReadWindow(const std::string& op, const ir::Attrs& attrs,
                                  const Shape& taps) {
  Window window;
  window.taps = taps;
  for (const int64_t tap : taps) {
    if (tap < 1 || tap >= kMaxExtent) {
      return absl::InvalidArgumentError(
          fmt::format("{}: expected a window of positive extents below {}, found {}", op,
                      kMaxExtent, ShapeText(taps)));
    }
  }
  HONE_ASSIGN_OR_RETURN(window.strides, PerAxis(op, attrs, "strides", taps.size()));
  HONE_ASSIGN_OR_RETURN(window.dilation, PerAxis(op, attrs, "dilation", taps.size()));
  HONE_RETURN_IF_ERROR(ReadPadding(op, attrs, taps.size(), &window));
  window.ceil_mode = BoolAttr(attrs, "ceil_mode", false);
  return window;
}

absl::StatusOr<Window> ReadPoolWindow(const std::string& op, size_t spatial,
                                      const ir::Attrs& attrs) {
  const Shape taps = IntsAttr(attrs, "pool_size");
  if (taps.size() == spatial) return ReadWindow(op, attrs, taps);
  return AttrError(op, "pool_size", fmt::format("{} integers", spatial), ShapeText(taps));
}

absl::Status AppendWindowOutput(const std::string& op, const Window& window,
                                const ir::TensorType& data, Shape* shape) {
  for (size_t i = 0; i < window.taps.size(); ++i) {
    const int64_t positions = window.Positions(i, data.shape[2 + i]);
    if (positions < 1) {
      return OperandError(op, "data",
                          fmt::format("a padded extent of at least {} on axis {}",
                                      window.dilation[i] * (window.taps[i] - 1) + 1, 2 + i),
                          data.ToString());
    }
    shape->push_back(positions);
  }
  return absl::OkStatus();
}

}  // namespace hone::ops
