// Conv2DBackpropInput, which is a transposed convolution.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/tensorflow/converters.h"
#include "compiler/frontend/tensorflow/image.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

// Height and width of the result: the whole shape of the convolution's input, or these two alone.
absl::StatusOr<Shape> ResultExtents(NodeReader& node, bool channels_last) {
  HONE_ASSIGN_OR_RETURN(const Shape sizes, node.Ints(0, "input_sizes"));
  constexpr int64_t kMost = int64_t{1} << 31;
  const bool in_range =
      std::all_of(sizes.begin(), sizes.end(), [](int64_t n) { return n >= 1 && n < kMost; });
  if (!in_range || (sizes.size() != 4 && sizes.size() != 2)) {
    return absl::InvalidArgumentError(
        fmt::format("input_sizes of 2 or 4 positive numbers were expected, found ({})",
                    fmt::join(sizes, ", ")));
  }
  if (sizes.size() == 2) return sizes;
  return channels_last ? Shape{sizes[1], sizes[2]} : Shape{sizes[2], sizes[3]};
}

// What the pads of the convolution leave of the result beyond what its last tap reaches.
absl::Status AddOutputPadding(const Shape& data, const Shape& result, const Shape& taps,
                              ir::Attrs* attrs) {
  const Shape strides = std::get<Shape>(attrs->at("strides"));
  const Shape dilation = std::get<Shape>(attrs->at("dilation"));
  const Shape pads = std::get<Shape>(attrs->at("padding"));
  Shape rest;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reached =
        (data[2 + i] - 1) * strides[i] + dilation[i] * (taps[i] - 1) + 1 - pads[i] - pads[2 + i];
    rest.push_back(result[i] - reached);
    if (rest[i] >= 0 && rest[i] < std::max(strides[i], dilation[i])) continue;
    return absl::InvalidArgumentError(fmt::format(
        "input_sizes were expected to be those of a convolution that gives ({}), found ({})",
        fmt::join(data, ", "), fmt::join(result, ", ")));
  }
  (*attrs)["output_padding"] = rest;
  return absl::OkStatus();
}

Results Conv2DBackpropInput(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Image image, ReadImage(node, 2));
  HONE_ASSIGN_OR_RETURN(const ir::Expr filter, node.Given(1, "the filter"));
  if (RankOf(filter) != 4) {
    return absl::InvalidArgumentError(
        fmt::format("a filter of height, width, outputs and inputs was expected, found {}",
                    filter->type->ToString()));
  }
  node.Raw("use_cudnn_on_gpu");
  HONE_ASSIGN_OR_RETURN(const Shape result, ResultExtents(node, image.channels_last));
  const Shape taps = {ShapeOf(filter)[0], ShapeOf(filter)[1]};
  // The pads are those of the convolution over the result; only its extents are looked at.
  Image over;
  over.channels_last = image.channels_last;
  over.data = ir::TensorVar("result", {1, 1, result[0], result[1]}, DtypeOf(image.data));
  HONE_ASSIGN_OR_RETURN(ir::Attrs attrs, WindowAttrs(node, over, taps));
  HONE_RETURN_IF_ERROR(AddOutputPadding(ShapeOf(image.data), result, taps, &attrs));
  attrs["groups"] = int64_t{1};
  HONE_ASSIGN_OR_RETURN(const ir::Expr weight, node.layouts().Transposed(filter, {3, 2, 0, 1}));
  return One(Emit("nn.conv2d_transpose", {image.data, weight}, std::move(attrs)),
             image.channels_last);
}

}  // namespace

void AddConvTransposeConverters(ConverterTable& table) {
  table["Conv2DBackpropInput"] = Conv2DBackpropInput;
}

}  // namespace hone::frontend::tf
