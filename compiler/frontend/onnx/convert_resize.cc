// Resize and Upsample: one axis after the other, for every mode of theirs is separable.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/resize_plan.h"
#include "compiler/frontend/onnx/results.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// A step or a repetition is told apart from arbitrary positions: it needs no table.
absl::StatusOr<ir::Expr> PickNearest(const ir::Expr& data, int64_t axis, const ResizePlan& plan) {
  const std::vector<int64_t>& at = plan.indices;
  const auto count = static_cast<int64_t>(at.size());
  const int64_t input = ShapeOf(data)[axis];
  if (count > 0 && count % input == 0) {
    const int64_t times = count / input;
    bool repeats = true;
    for (int64_t o = 0; o < count; ++o) repeats = repeats && at[o] == o / times;
    if (repeats) {
      Shape shape = ShapeOf(data);
      HONE_ASSIGN_OR_RETURN(ir::Expr e, Emit("expand_dims", {data}, {{"axis", axis + 1}}));
      Shape wide = ShapeOf(e);
      wide[axis + 1] = times;
      HONE_ASSIGN_OR_RETURN(e, Emit("broadcast_to", {e}, {{"shape", wide}}));
      shape[axis] = count;
      return ReshapedTo(e, shape);
    }
  }
  if (count > 1 && at[1] > at[0]) {
    const int64_t step = at[1] - at[0];
    bool steps = true;
    for (int64_t o = 0; o < count; ++o) steps = steps && at[o] == at[0] + o * step;
    if (steps) {
      return Emit("strided_slice", {data},
                  {{"begin", Shape{at[0]}},
                   {"end", Shape{at[count - 1] + 1}},
                   {"strides", Shape{step}},
                   {"axes", Shape{axis}}});
    }
  }
  return Emit("take", {data, IntsConstant(at)}, {{"axis", axis}});
}

absl::StatusOr<ir::Expr> Interpolate(const ir::Expr& data, int64_t axis, const ResizePlan& plan) {
  const auto count = static_cast<int64_t>(plan.outside.size());
  const std::vector<int64_t> shape = {count, plan.taps};
  const ir::Expr indices = ir::ConstantFromBytes({shape, DataType::kInt64}, plan.indices.data());
  HONE_ASSIGN_OR_RETURN(
      const ir::Expr weights,
      CastConstant(ir::ConstantFromBytes({shape, DataType::kFloat64}, plan.weights.data()),
                   DtypeOf(data)));
  return Emit("resample", {data, indices, weights}, {{"axis", axis}});
}

absl::StatusOr<ir::Expr> Extrapolate(const ir::Expr& data, int64_t axis,
                                     const std::vector<bool>& outside, double value) {
  if (std::none_of(outside.begin(), outside.end(), [](bool o) { return o; })) return data;
  Shape shape(RankOf(data), 1);
  shape[axis] = static_cast<int64_t>(outside.size());
  const ir::Expr mask =
      MakeConstant(shape, DataType::kBool, std::string(outside.begin(), outside.end()));
  return Emit("where", {mask, ScalarConstant(value, DtypeOf(data)), data});
}

// What the positions and weights of an axis take at most.
int64_t TableBytes(const ResizeRule& rule, const ResizeAxis& axis) {
  const double stretch = rule.antialias ? std::min(axis.scale, 1.0) : 1.0;
  const double taps = rule.mode == "nearest" ? 1 : 4 / stretch + 4;
  constexpr double kBytesPerTap = 32;
  return static_cast<int64_t>(
      std::min(1e15, static_cast<double>(axis.output) * taps * kBytesPerTap));
}

// Neighbours of a result are neighbours of the data but along the innermost axis, so that is
// interpolated where there are the fewest elements: first where their number grows, else last.
// What is picked or repeated is fastest in order.
std::vector<size_t> OrderOf(const ResizeRule& rule, const std::vector<ResizeAxis>& axes) {
  std::vector<size_t> order(axes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  double growth = 1;
  for (const ResizeAxis& axis : axes) {
    growth *=
        static_cast<double>(axis.output) / static_cast<double>(std::max<int64_t>(axis.input, 1));
  }
  if (rule.mode != "nearest" && growth > 1) std::reverse(order.begin(), order.end());
  return order;
}

// Integers are interpolated as floats and cut off.
absl::StatusOr<ir::Expr> ResizeAxes(NodeReader& node, const ir::Expr& given, const ResizeRule& rule,
                                    const std::vector<ResizeAxis>& axes, double extrapolation) {
  ir::Expr data = given;
  for (const size_t i : OrderOf(rule, axes)) {
    const auto axis = static_cast<int64_t>(i);
    if (axes[i].input == 0 || axes[i].output == 0) {
      if (axes[i].input == axes[i].output) continue;
      return absl::InvalidArgumentError("an empty axis cannot be resized");
    }
    const bool crops = rule.coordinates == "tf_crop_and_resize" &&
                       (axes[i].roi_begin != 0 || axes[i].roi_end != 1);
    if (axes[i].input == axes[i].output && axes[i].scale == 1 && !crops) continue;
    HONE_RETURN_IF_ERROR(node.Generate(TableBytes(rule, axes[i])));
    HONE_ASSIGN_OR_RETURN(const ResizePlan plan, PlanResize(rule, axes[i]));
    if (rule.mode == "nearest") {
      HONE_ASSIGN_OR_RETURN(data, PickNearest(data, axis, plan));
    } else {
      if (!IsFloat(DtypeOf(data))) {
        HONE_ASSIGN_OR_RETURN(data, CastedTo(data, DataType::kFloat32));
      }
      HONE_ASSIGN_OR_RETURN(data, Interpolate(data, axis, plan));
    }
    HONE_ASSIGN_OR_RETURN(data, Extrapolate(data, axis, plan.outside, extrapolation));
  }
  return CastedTo(data, DtypeOf(given));
}

// From scales: the extent is that of float32 arithmetic, as exporters and other runtimes have it.
absl::StatusOr<ResizeAxis> AxisFromScale(int64_t input, double scale) {
  const float extent = static_cast<float>(scale) * static_cast<float>(input);
  if (!(scale > 0) || !(extent < 1e9F)) {
    return absl::InvalidArgumentError(
        fmt::format("a positive scale was expected, found {}", scale));
  }
  ResizeAxis axis;
  axis.input = input;
  axis.output = static_cast<int64_t>(extent);
  axis.scale = scale;
  axis.exact_output = scale * static_cast<double>(input);
  return axis;
}

absl::StatusOr<std::vector<ResizeAxis>> AxesFromScales(const Shape& shape, const Shape& axes,
                                                       const std::vector<double>& scales) {
  if (scales.size() != axes.size()) {
    return absl::InvalidArgumentError(
        fmt::format("{} scales were expected, found {}", axes.size(), scales.size()));
  }
  std::vector<ResizeAxis> result;
  for (const int64_t extent : shape) {
    HONE_ASSIGN_OR_RETURN(ResizeAxis axis, AxisFromScale(extent, 1));
    result.push_back(axis);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(result[axes[i]], AxisFromScale(shape[axes[i]], scales[i]));
  }
  return result;
}

absl::StatusOr<std::vector<ResizeAxis>> AxesFromSizes(const Shape& shape, const Shape& axes,
                                                      const Shape& sizes,
                                                      const std::string& policy) {
  if (sizes.size() != axes.size()) {
    return absl::InvalidArgumentError(
        fmt::format("{} sizes were expected, found {}", axes.size(), sizes.size()));
  }
  HONE_ASSIGN_OR_RETURN(std::vector<ResizeAxis> result,
                        AxesFromScales(shape, axes, std::vector<double>(axes.size(), 1)));
  double common = policy == "not_larger" ? INFINITY : 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = result[axes[i]];
    if (sizes[i] < 0 || sizes[i] > (int64_t{1} << 31)) {
      return absl::InvalidArgumentError(fmt::format("a size of {} was found", sizes[i]));
    }
    axis.output = sizes[i];
    axis.scale = static_cast<double>(sizes[i]) / static_cast<double>(axis.input);
    axis.exact_output = static_cast<double>(sizes[i]);
    common = policy == "not_larger" ? std::min(common, axis.scale) : std::max(common, axis.scale);
  }
  if (policy == "stretch") {
    for (const int64_t at : axes) result[at].by_extents = true;
    return result;
  }
  if (policy != "not_larger" && policy != "not_smaller") {
    return absl::InvalidArgumentError(fmt::format("unknown keep_aspect_ratio_policy {}", policy));
  }
  for (const int64_t at : axes) {
    ResizeAxis& axis = result[at];
    axis.scale = common;
    axis.exact_output = common * static_cast<double>(axis.input);
    axis.output = static_cast<int64_t>(std::floor(axis.exact_output + 0.5));
  }
  return result;
}

absl::Status ReadRoi(NodeReader& node, const Shape& axes, std::vector<ResizeAxis>* result) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr roi, node.Arg(1, "roi"));
  HONE_ASSIGN_OR_RETURN(const auto numbers, ConstantNumbers(roi, "roi"));
  if (numbers.size() != 2 * axes.size()) {
    return absl::InvalidArgumentError(
        fmt::format("a roi of {} numbers was expected, found {}", 2 * axes.size(), numbers.size()));
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    (*result)[axes[i]].roi_begin = numbers[i];
    (*result)[axes[i]].roi_end = numbers[axes.size() + i];
  }
  return absl::OkStatus();
}

absl::StatusOr<ResizeRule> ReadRule(NodeReader& node) {
  ResizeRule rule;
  HONE_ASSIGN_OR_RETURN(rule.mode, node.String("mode", "nearest"));
  HONE_ASSIGN_OR_RETURN(rule.coordinates,
                        node.String("coordinate_transformation_mode", "half_pixel"));
  HONE_ASSIGN_OR_RETURN(rule.nearest, node.String("nearest_mode", "round_prefer_floor"));
  HONE_ASSIGN_OR_RETURN(rule.cubic_a, node.Float("cubic_coeff_a", -0.75));
  HONE_ASSIGN_OR_RETURN(const int64_t exclude, node.Int("exclude_outside", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t antialias, node.Int("antialias", 0));
  rule.exclude_outside = exclude != 0;
  rule.antialias = antialias != 0;
  return rule;
}

// An operand that is there and not empty.
bool IsGiven(const NodeReader& node, size_t i) {
  return node.Has(i) && node.args()[i]->type->tensor.ElementCount() > 0;
}

Results Resize(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const ResizeRule rule, ReadRule(node));
  HONE_ASSIGN_OR_RETURN(const double extrapolation, node.Float("extrapolation_value", 0));
  HONE_ASSIGN_OR_RETURN(const std::string policy,
                        node.String("keep_aspect_ratio_policy", "stretch"));
  std::optional<Shape> given;
  if (node.HasAttr("axes")) {
    HONE_ASSIGN_OR_RETURN(given, node.Ints("axes"));
  }
  HONE_ASSIGN_OR_RETURN(const Shape axes, AxesOf(given, RankOf(data)));
  std::vector<ResizeAxis> plan;
  if (IsGiven(node, 3)) {
    HONE_ASSIGN_OR_RETURN(const Shape sizes, node.ConstantInts(3, "sizes"));
    HONE_ASSIGN_OR_RETURN(plan, AxesFromSizes(ShapeOf(data), axes, sizes, policy));
  } else {
    HONE_ASSIGN_OR_RETURN(const ir::Expr scales, node.Arg(2, "scales"));
    HONE_ASSIGN_OR_RETURN(const auto numbers, ConstantNumbers(scales, "scales"));
    HONE_ASSIGN_OR_RETURN(plan, AxesFromScales(ShapeOf(data), axes, numbers));
  }
  if (rule.coordinates == "tf_crop_and_resize") {
    HONE_RETURN_IF_ERROR(ReadRoi(node, axes, &plan));
  }
  return One(ResizeAxes(node, data, rule, plan, extrapolation));
}

absl::StatusOr<std::vector<double>> UpsampleScales(NodeReader& node) {
  if (const OnnxAttr* raw = node.Raw("scales")) {
    if (const auto* values = std::get_if<std::vector<float>>(raw)) {
      return std::vector<double>(values->begin(), values->end());
    }
  }
  if (node.HasAttr("height_scale") || node.HasAttr("width_scale")) {  // opset 1: of images alone
    HONE_ASSIGN_OR_RETURN(const double height, node.Float("height_scale", 1));
    HONE_ASSIGN_OR_RETURN(const double width, node.Float("width_scale", 1));
    return std::vector<double>{1, 1, height, width};
  }
  HONE_ASSIGN_OR_RETURN(const ir::Expr scales, node.Arg(1, "scales"));
  return ConstantNumbers(scales, "scales");
}

// Upsample, and Resize before opset 11: positions are divided by the scale. What is nearest is
// below when enlarging, above when shrinking.
Results Upsample(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const std::string mode, node.String("mode", "nearest"));
  HONE_ASSIGN_OR_RETURN(const std::vector<double> scales, UpsampleScales(node));
  HONE_ASSIGN_OR_RETURN(const Shape all, AxesOf(std::nullopt, RankOf(data)));
  HONE_ASSIGN_OR_RETURN(const std::vector<ResizeAxis> axes,
                        AxesFromScales(ShapeOf(data), all, scales));
  ResizeRule rule;
  rule.mode = mode == "bilinear" ? "linear" : mode;
  rule.coordinates = "asymmetric";
  const bool shrinks =
      std::any_of(scales.begin(), scales.end(), [](double scale) { return scale < 1; });
  rule.nearest = shrinks ? "ceil" : "floor";
  return One(ResizeAxes(node, data, rule, axes, 0));
}

}  // namespace

void AddResizeConverters(ConverterTable& table) {
  table["Resize"] = [](NodeReader& node) {
    return node.opset() < 11 ? Upsample(node) : Resize(node);
  };
  table["Upsample"] = Upsample;
}

}  // namespace hone::frontend
