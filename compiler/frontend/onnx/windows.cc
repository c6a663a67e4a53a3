#include "compiler/frontend/onnx/windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/status.h"

namespace hone::frontend {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 31;

absl::StatusOr<Shape> PositivePerAxis(NodeReader& node, const std::string& name, size_t axes) {
  HONE_ASSIGN_OR_RETURN(Shape values, node.Ints(name, Shape(axes, 1)));
  const bool in_range =
      std::all_of(values.begin(), values.end(), [](int64_t v) { return v >= 1 && v < kMaxExtent; });
  if (values.size() != axes || !in_range) {
    return absl::InvalidArgumentError(fmt::format("{} positive {} were expected, found ({})", axes,
                                                  name, fmt::join(values, ", ")));
  }
  return values;
}

// SAME: as many positions as the input has strides; what is left over goes after (SAME_UPPER) or
// before (SAME_LOWER).
Shape SamePads(const Shape& extents, const Shape& taps, const Shape& strides, const Shape& dilation,
               bool upper) {
  const size_t axes = taps.size();
  Shape pads(2 * axes);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t positions = (extents[i] + strides[i] - 1) / strides[i];
    const int64_t reach = dilation[i] * (taps[i] - 1) + 1;
    const int64_t total = std::max<int64_t>(0, (positions - 1) * strides[i] + reach - extents[i]);
    pads[i] = upper ? total / 2 : total - total / 2;
    pads[axes + i] = total - pads[i];
  }
  return pads;
}

}  // namespace

absl::StatusOr<int64_t> SpatialRank(const ir::Expr& data) {
  const int64_t spatial = RankOf(data) - 2;
  if (spatial >= 1 && spatial <= 3) return spatial;
  return absl::InvalidArgumentError(
      fmt::format("X of rank 3 to 5 was expected, found {}", data->type->ToString()));
}

absl::StatusOr<ir::Attrs> WindowAttrs(NodeReader& node, const ir::Expr& data, const Shape& taps) {
  const size_t axes = taps.size();
  for (const int64_t tap : taps) {
    if (tap < 1 || tap >= kMaxExtent) {
      return absl::InvalidArgumentError(fmt::format(
          "a window of positive extents was expected, found ({})", fmt::join(taps, ", ")));
    }
  }
  HONE_ASSIGN_OR_RETURN(const Shape strides, PositivePerAxis(node, "strides", axes));
  HONE_ASSIGN_OR_RETURN(const Shape dilation, PositivePerAxis(node, "dilations", axes));
  HONE_ASSIGN_OR_RETURN(Shape pads, node.Ints("pads", Shape(2 * axes, 0)));
  HONE_ASSIGN_OR_RETURN(const std::string auto_pad, node.String("auto_pad", "NOTSET"));
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    const Shape extents(ShapeOf(data).begin() + 2, ShapeOf(data).end());
    pads = SamePads(extents, taps, strides, dilation, auto_pad == "SAME_UPPER");
  } else if (auto_pad == "VALID") {
    pads.assign(2 * axes, 0);
  } else if (auto_pad != "NOTSET" && !auto_pad.empty()) {
    return absl::InvalidArgumentError(fmt::format(
        "auto_pad was expected to be NOTSET, SAME_UPPER, SAME_LOWER or VALID, found {}", auto_pad));
  }
  if (pads.size() != 2 * axes) {
    return absl::InvalidArgumentError(
        fmt::format("{} pads were expected, found ({})", 2 * axes, fmt::join(pads, ", ")));
  }
  return ir::Attrs{{"strides", strides}, {"dilation", dilation}, {"padding", pads}};
}

absl::StatusOr<ConvOperands> ReadConvOperands(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr weight, node.Arg(1, "W"));
  const int64_t spatial = RankOf(data) - 2;
  if (spatial < 1 || spatial > 3 || RankOf(weight) != RankOf(data)) {
    return absl::InvalidArgumentError(
        fmt::format("X and W of one rank from 3 to 5 were expected, found {} and {}",
                    data->type->ToString(), weight->type->ToString()));
  }
  const Shape taps(ShapeOf(weight).begin() + 2, ShapeOf(weight).end());
  HONE_ASSIGN_OR_RETURN(const Shape kernel_shape, node.Ints("kernel_shape", taps));
  if (kernel_shape != taps) {
    return absl::InvalidArgumentError(fmt::format("kernel_shape is ({}), but W is {}",
                                                  fmt::join(kernel_shape, ", "),
                                                  weight->type->ToString()));
  }
  return ConvOperands{data, weight, taps};
}

}  // namespace hone::frontend
