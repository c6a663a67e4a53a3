// LpPool, GlobalLpPool, MaxUnpool.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/onnx/windows.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

absl::StatusOr<int64_t> Norm(NodeReader& node) {
  const OnnxAttr* raw = node.Raw("p");  // a float in opset 1
  if (raw != nullptr && std::holds_alternative<float>(*raw)) {
    return static_cast<int64_t>(std::get<float>(*raw));
  }
  return node.Int("p", 2);
}

Results LpPool(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const int64_t spatial, SpatialRank(data));
  HONE_ASSIGN_OR_RETURN(const Shape taps, node.Ints("kernel_shape"));
  if (static_cast<int64_t>(taps.size()) != spatial) {
    return absl::InvalidArgumentError(
        fmt::format("kernel_shape of {} extents was expected, found {}", spatial, taps.size()));
  }
  HONE_ASSIGN_OR_RETURN(ir::Attrs attrs, WindowAttrs(node, data, taps));
  HONE_ASSIGN_OR_RETURN(const int64_t ceil_mode, node.Int("ceil_mode", 0));
  HONE_ASSIGN_OR_RETURN(attrs["p"], Norm(node));
  attrs["pool_size"] = taps;
  if (ceil_mode != 0) attrs["ceil_mode"] = true;
  return One(Emit(fmt::format("nn.lp_pool{}d", spatial), {data}, std::move(attrs)));
}

// One window over everything.
Results GlobalLpPool(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const int64_t spatial, SpatialRank(data));
  HONE_ASSIGN_OR_RETURN(const int64_t p, Norm(node));
  const Shape taps(ShapeOf(data).begin() + 2, ShapeOf(data).end());
  return One(Emit(fmt::format("nn.lp_pool{}d", spatial), {data}, {{"pool_size", taps}, {"p", p}}));
}

// The shape a pool was made from, as far as its own shape tells.
absl::StatusOr<Shape> UnpooledShape(NodeReader& node, const ir::Expr& data, int64_t spatial) {
  HONE_ASSIGN_OR_RETURN(const Shape taps, node.Ints("kernel_shape"));
  HONE_ASSIGN_OR_RETURN(const Shape strides, node.Ints("strides", Shape(spatial, 1)));
  HONE_ASSIGN_OR_RETURN(const Shape pads, node.Ints("pads", Shape(2 * spatial, 0)));
  const auto rank = static_cast<size_t>(spatial);
  if (taps.size() != rank || strides.size() != rank || pads.size() != 2 * rank) {
    return absl::InvalidArgumentError(
        fmt::format("kernel_shape, strides and pads of {} axes were expected", spatial));
  }
  Shape shape = ShapeOf(data);
  for (size_t i = 0; i < rank; ++i) {
    constexpr int64_t kMost = int64_t{1} << 31;
    int64_t extent = 0;
    const bool fits = strides[i] > 0 && strides[i] < kMost && taps[i] > 0 && taps[i] < kMost &&
                      pads[i] >= 0 && pads[i] < kMost && pads[rank + i] >= 0 &&
                      pads[rank + i] < kMost &&
                      !__builtin_mul_overflow(shape[2 + i] - 1, strides[i], &extent);
    extent += taps[i] - pads[i] - pads[rank + i];
    if (!fits || extent < 1) return absl::InvalidArgumentError("a window that fits was expected");
    shape[2 + i] = extent;
  }
  return shape;
}

// The indices are positions in the shape that the attributes give; a larger output_shape is filled
// up with zeros at the ends.
Results MaxUnpool(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr indices, node.Arg(1, "I"));
  HONE_ASSIGN_OR_RETURN(const int64_t spatial, SpatialRank(data));
  HONE_ASSIGN_OR_RETURN(const Shape shape, UnpooledShape(node, data, spatial));
  int64_t count = 1;
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) {
      return absl::InvalidArgumentError("the result is too large");
    }
  }
  HONE_ASSIGN_OR_RETURN(
      const ir::Expr zeros,
      Emit("broadcast_to", {ScalarConstant(0, DtypeOf(data))}, {{"shape", Shape{count}}}));
  const Shape flat = {data->type->tensor.ElementCount()};
  HONE_ASSIGN_OR_RETURN(const ir::Expr values, ReshapedTo(data, flat));
  HONE_ASSIGN_OR_RETURN(const ir::Expr positions, ReshapedTo(indices, flat));
  HONE_ASSIGN_OR_RETURN(ir::Expr result, Emit("scatter_elements", {zeros, positions, values}));
  HONE_ASSIGN_OR_RETURN(result, ReshapedTo(result, shape));
  if (!node.Has(2)) return std::vector<ir::Expr>{result};
  HONE_ASSIGN_OR_RETURN(const Shape wanted, node.ConstantInts(2, "output_shape"));
  Shape widths;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (wanted.size() != shape.size() || wanted[i] < shape[i]) {
      return absl::InvalidArgumentError(
          fmt::format("an output_shape of at least {} was expected", result->type->ToString()));
    }
    widths.insert(widths.end(), {0, wanted[i] - shape[i]});
  }
  return One(Emit("nn.pad", {result}, {{"pad_width", widths}, {"pad_value", 0.0}}));
}

}  // namespace

void AddUnpoolConverters(ConverterTable& table) {
  table["LpPool"] = LpPool;
  table["GlobalLpPool"] = GlobalLpPool;
  table["MaxUnpool"] = MaxUnpool;
}

}  // namespace hone::frontend
