// Conv2D, DepthwiseConv2dNative, BiasAdd.
#include <fmt/format.h>

#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/tensorflow/converters.h"
#include "compiler/frontend/tensorflow/image.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

struct Filter {
  ir::Expr e;  // (H, W, input channels, outputs or multiplier)
  Shape taps;
};

absl::StatusOr<Filter> ReadFilter(NodeReader& node) {
  node.Raw("use_cudnn_on_gpu");
  HONE_ASSIGN_OR_RETURN(const ir::Expr e, node.Given(1, "the filter"));
  if (RankOf(e) != 4 || ShapeOf(e)[2] < 1 || ShapeOf(e)[3] < 1) {
    return absl::InvalidArgumentError(
        fmt::format("a filter of height, width, inputs and outputs was expected, found {}",
                    e->type->ToString()));
  }
  return Filter{e, {ShapeOf(e)[0], ShapeOf(e)[1]}};
}

Results Conv(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Image image, ReadImage(node));
  HONE_ASSIGN_OR_RETURN(const Filter filter, ReadFilter(node));
  HONE_ASSIGN_OR_RETURN(ir::Attrs attrs, WindowAttrs(node, image, filter.taps));
  HONE_ASSIGN_OR_RETURN(const ir::Expr weight, node.layouts().Transposed(filter.e, {3, 2, 0, 1}));
  attrs["groups"] = ShapeOf(image.data)[1] / ShapeOf(filter.e)[2];
  return One(Emit("nn.conv2d", {image.data, weight}, std::move(attrs)), image.channels_last);
}

// Output channel c * multiplier + m reads input channel c.
Results DepthwiseConv(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Image image, ReadImage(node));
  HONE_ASSIGN_OR_RETURN(const Filter filter, ReadFilter(node));
  HONE_ASSIGN_OR_RETURN(ir::Attrs attrs, WindowAttrs(node, image, filter.taps));
  HONE_ASSIGN_OR_RETURN(ir::Expr weight, node.layouts().Transposed(filter.e, {2, 3, 0, 1}));
  const Shape& shape = ShapeOf(weight);
  const int64_t channels = shape[0];
  int64_t outputs = 0;
  if (__builtin_mul_overflow(shape[0], shape[1], &outputs)) {
    return absl::InvalidArgumentError("a filter of fewer channels was expected");
  }
  HONE_ASSIGN_OR_RETURN(weight, Reshaped(weight, {outputs, 1, filter.taps[0], filter.taps[1]}));
  attrs["groups"] = channels;
  return One(Emit("nn.conv2d", {image.data, weight}, std::move(attrs)), image.channels_last);
}

Results BiasAdd(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Value value, node.Arg(0, "value"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr bias, node.Given(1, "bias"));
  HONE_ASSIGN_OR_RETURN(const std::string format, node.StringAttr("data_format", "NHWC"));
  const int64_t rank = RankOf(value.e);
  if (format == "NCHW") {
    HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.layouts().AsGiven(value));
    return One(Emit("nn.bias_add", {data, bias}, {{"axis", int64_t{1}}}));
  }
  const int64_t axis = value.channels_first ? 1 : rank - 1;
  return One(Emit("nn.bias_add", {value.e, bias}, {{"axis", axis}}), value.channels_first);
}

}  // namespace

void AddConvConverters(ConverterTable& table) {
  table["Conv2D"] = Conv;
  table["DepthwiseConv2dNative"] = DepthwiseConv;
  table["BiasAdd"] = BiasAdd;
  table["BiasAddV1"] = BiasAdd;
}

}  // namespace hone::frontend::tf
