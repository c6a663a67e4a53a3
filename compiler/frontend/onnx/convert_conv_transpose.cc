// ConvTranspose and Col2Im.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/onnx/windows.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// Paddings from the extents that output_shape or auto_pad ask for. What no tap reaches is added at
// the end.
absl::Status FitOutput(const Shape& input, const Shape& taps, const Shape& wanted, bool upper,
                       ir::Attrs* attrs) {
  const size_t axes = taps.size();
  const Shape strides = std::get<Shape>(attrs->at("strides"));
  const Shape dilation = std::get<Shape>(attrs->at("dilation"));
  Shape extra = std::get<Shape>(attrs->at("output_padding"));
  Shape pads(2 * axes, 0);
  for (size_t i = 0; i < axes; ++i) {
    constexpr int64_t kMost = int64_t{1} << 31;
    if (input[i] < 1 || input[i] > kMost / strides[i] || wanted[i] < 1 || wanted[i] > kMost) {
      return absl::InvalidArgumentError(
          fmt::format("a positive output extent was expected, found {}", wanted[i]));
    }
    const int64_t total =
        strides[i] * (input[i] - 1) + extra[i] + (taps[i] - 1) * dilation[i] + 1 - wanted[i];
    if (total < 0) {
      extra[i] -= total;
      continue;
    }
    pads[i] = upper ? total / 2 : total - total / 2;
    pads[axes + i] = total - pads[i];
  }
  (*attrs)["padding"] = pads;
  (*attrs)["output_padding"] = extra;
  return absl::OkStatus();
}

Results ConvTranspose(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ConvOperands operands, ReadConvOperands(node));
  const auto& [data, weight, taps] = operands;
  const int64_t spatial = RankOf(data) - 2;
  HONE_ASSIGN_OR_RETURN(ir::Attrs attrs, WindowAttrs(node, data, taps));
  HONE_ASSIGN_OR_RETURN(const std::string auto_pad, node.String("auto_pad", "NOTSET"));
  HONE_ASSIGN_OR_RETURN(attrs["groups"], node.Int("group", 1));
  HONE_ASSIGN_OR_RETURN(const Shape extra, node.Ints("output_padding", Shape(spatial, 0)));
  HONE_ASSIGN_OR_RETURN(Shape wanted, node.Ints("output_shape"));
  if (static_cast<int64_t>(extra.size()) != spatial) {
    return absl::InvalidArgumentError(
        fmt::format("{} entries of output_padding were expected, found {}", spatial, extra.size()));
  }
  attrs["output_padding"] = extra;
  const Shape input(ShapeOf(data).begin() + 2, ShapeOf(data).end());
  if (static_cast<int64_t>(wanted.size()) == spatial + 2) {
    wanted.erase(wanted.begin(), wanted.begin() + 2);
  }
  if (wanted.empty() && auto_pad.starts_with("SAME")) {
    const Shape strides = std::get<Shape>(attrs.at("strides"));
    for (int64_t i = 0; i < spatial; ++i) wanted.push_back(input[i] * strides[i]);
  }
  if (!wanted.empty()) {
    if (static_cast<int64_t>(wanted.size()) != spatial) {
      return absl::InvalidArgumentError(fmt::format(
          "an output_shape of {} extents was expected, found {}", spatial, wanted.size()));
    }
    HONE_RETURN_IF_ERROR(FitOutput(input, taps, wanted, auto_pad == "SAME_UPPER", &attrs));
  }
  HONE_ASSIGN_OR_RETURN(ir::Expr result, Emit(fmt::format("nn.conv{}d_transpose", spatial),
                                              {data, weight}, std::move(attrs)));
  if (node.Has(2)) {
    HONE_ASSIGN_OR_RETURN(result,
                          Emit("nn.bias_add", {result, node.args()[2]}, {{"axis", int64_t{1}}}));
  }
  return std::vector<ir::Expr>{result};
}

Results Col2Im(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const Shape image, node.ConstantInts(1, "image_shape"));
  HONE_ASSIGN_OR_RETURN(const Shape block, node.ConstantInts(2, "block_shape"));
  HONE_ASSIGN_OR_RETURN(const Shape strides, node.Ints("strides", Shape(block.size(), 1)));
  HONE_ASSIGN_OR_RETURN(const Shape dilation, node.Ints("dilations", Shape(block.size(), 1)));
  HONE_ASSIGN_OR_RETURN(const Shape pads, node.Ints("pads", Shape(2 * block.size(), 0)));
  return One(Emit("col2im", {data},
                  {{"image_shape", image},
                   {"block_shape", block},
                   {"strides", strides},
                   {"dilation", dilation},
                   {"padding", pads}}));
}

}  // namespace

void AddConvTransposeConverters(ConverterTable& table) {
  table["ConvTranspose"] = ConvTranspose;
  table["Col2Im"] = Col2Im;
}

}  // namespace hone::frontend
