#include "compiler/frontend/tensorflow/image.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/status.h"

namespace hone::frontend::tf {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 31;

// As many positions as the data has strides.
Shape SamePads(const Shape& data, const Shape& taps, const Shape& strides, const Shape& dilation) {
  Shape pads(4);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t extent = data[2 + i];
    const int64_t positions = (extent + strides[i] - 1) / strides[i];
    const int64_t reach = dilation[i] * (taps[i] - 1) + 1;
    const int64_t total = std::max<int64_t>(0, (positions - 1) * strides[i] + reach - extent);
    pads[i] = total / 2;
    pads[2 + i] = total - pads[i];
  }
  return pads;
}

// TensorFlow lists before and after of each of the four axes.
absl::StatusOr<Shape> ExplicitPads(NodeReader& node, const Image& image) {
  HONE_ASSIGN_OR_RETURN(const Shape all, node.IntsAttr("explicit_paddings"));
  const bool in_range =
      std::all_of(all.begin(), all.end(), [](int64_t pad) { return pad >= 0 && pad < kMaxExtent; });
  if (all.size() != 8 || !in_range) {
    return absl::InvalidArgumentError(fmt::format(
        "explicit_paddings of 8 numbers from 0 on was expected, found ({})", fmt::join(all, ", ")));
  }
  const size_t height = image.channels_last ? 2 : 4;
  Shape others = all;
  others.erase(others.begin() + static_cast<int64_t>(height),
               others.begin() + static_cast<int64_t>(height) + 4);
  if (others != Shape(4, 0)) {
    return absl::UnimplementedError("Hone has windows without padding of batch and channels only");
  }
  return Shape{all[height], all[height + 2], all[height + 1], all[height + 3]};
}

}  // namespace

absl::StatusOr<Shape> Image::SpatialOf(NodeReader& node, const std::string& attr,
                                       const Shape& fallback) const {
  HONE_ASSIGN_OR_RETURN(const Shape all, node.IntsAttr(attr, fallback));
  const bool in_range =
      std::all_of(all.begin(), all.end(), [](int64_t v) { return v >= 1 && v < kMaxExtent; });
  if (all.size() != 4 || !in_range) {
    return absl::InvalidArgumentError(fmt::format(
        "{} of 4 positive numbers was expected, found ({})", attr, fmt::join(all, ", ")));
  }
  if (all[0] != 1 || all[channels_last ? 3 : 1] != 1) {
    return absl::UnimplementedError(fmt::format("Hone has {} of height and width only, found ({})",
                                                attr, fmt::join(all, ", ")));
  }
  return channels_last ? Shape{all[1], all[2]} : Shape{all[2], all[3]};
}

absl::StatusOr<Image> ReadImage(NodeReader& node, size_t operand) {
  HONE_ASSIGN_OR_RETURN(const Value value, node.Arg(operand, "the image"));
  HONE_ASSIGN_OR_RETURN(const std::string format, node.StringAttr("data_format", "NHWC"));
  if (format != "NHWC" && format != "NCHW") {
    return absl::UnimplementedError(
        fmt::format("data_format NHWC or NCHW was expected, found {}", format));
  }
  if (RankOf(value.e) != 4) {
    return absl::InvalidArgumentError(
        fmt::format("an image of 4 axes was expected, found {}", value.e->type->ToString()));
  }
  if (!IsFloat(DtypeOf(value.e))) {
    return absl::UnimplementedError(
        fmt::format("Hone has windows over floats only, found {}", value.e->type->ToString()));
  }
  Image image;
  image.channels_last = format == "NHWC";
  HONE_ASSIGN_OR_RETURN(image.data, image.channels_last ? node.layouts().ChannelsFirst(value)
                                                        : node.layouts().AsGiven(value));
  return image;
}

absl::StatusOr<ir::Attrs> WindowAttrs(NodeReader& node, const Image& image, const Shape& taps) {
  for (const int64_t tap : taps) {
    if (tap >= 1 && tap < kMaxExtent) continue;
    return absl::InvalidArgumentError(fmt::format(
        "a window of positive extents was expected, found ({})", fmt::join(taps, ", ")));
  }
  HONE_ASSIGN_OR_RETURN(const Shape strides, image.SpatialOf(node, "strides", {}));
  HONE_ASSIGN_OR_RETURN(const Shape dilation, image.SpatialOf(node, "dilations", Shape(4, 1)));
  HONE_ASSIGN_OR_RETURN(const std::string padding, node.StringAttr("padding", ""));
  Shape pads(4, 0);
  if (padding == "SAME") {
    pads = SamePads(ShapeOf(image.data), taps, strides, dilation);
  } else if (padding == "EXPLICIT") {
    HONE_ASSIGN_OR_RETURN(pads, ExplicitPads(node, image));
  } else if (padding != "VALID") {
    return absl::InvalidArgumentError(
        fmt::format("padding was expected to be SAME, VALID or EXPLICIT, found \"{}\"", padding));
  }
  node.Raw("explicit_paddings");  // empty where padding is another
  return ir::Attrs{{"strides", strides}, {"dilation", dilation}, {"padding", pads}};
}

}  // namespace hone::frontend::tf
