// GridSample, AffineGrid, RoiAlign and MaxRoiPool.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/tensor_size.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

Results GridSample(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr grid, node.Arg(1, "grid"));
  HONE_ASSIGN_OR_RETURN(std::string mode, node.String("mode", "linear"));
  HONE_ASSIGN_OR_RETURN(const std::string padding, node.String("padding_mode", "zeros"));
  HONE_ASSIGN_OR_RETURN(const int64_t align, node.Int("align_corners", 0));
  if (mode == "bilinear") mode = "linear";  // until opset 19
  if (mode == "bicubic") mode = "cubic";
  return One(Emit("nn.grid_sample", {data, grid},
                  {{"method", mode}, {"padding_mode", padding}, {"align_corners", align != 0}}));
}

// The points of a grid over [-1, 1] along each axis, x first, with a 1 behind: (points, axes + 1).
ir::Expr GridPoints(const Shape& extents, bool align) {
  const auto axes = static_cast<int64_t>(extents.size());
  int64_t count = 1;
  for (const int64_t extent : extents) count *= extent;
  std::vector<float> points;
  points.reserve(count * (axes + 1));
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (int64_t axis = axes - 1; axis >= 0; --axis) {
      const auto extent = static_cast<double>(extents[axis]);
      const auto at = static_cast<double>(rest % extents[axis]);
      rest /= extents[axis];
      const double spread = extent > 1 ? 2 * at / (extent - 1) - 1 : 0;
      points.push_back(static_cast<float>(align ? spread : (2 * at + 1) / extent - 1));
    }
    points.push_back(1);
  }
  return ir::ConstantFromBytes({{1, count, axes + 1}, DataType::kFloat32}, points.data());
}

Results AffineGrid(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr theta, node.Arg(0, "theta"));
  HONE_ASSIGN_OR_RETURN(const Shape size, node.ConstantInts(1, "size"));
  HONE_ASSIGN_OR_RETURN(const int64_t align, node.Int("align_corners", 0));
  const auto axes = static_cast<int64_t>(size.size()) - 2;
  if (axes < 2 || axes > 3 || ShapeOf(theta) != Shape{size[0], axes, axes + 1}) {
    return absl::InvalidArgumentError(
        fmt::format("matrices for the size ({}) were expected, found {}", fmt::join(size, ", "),
                    theta->type->ToString()));
  }
  const Shape extents(size.begin() + 2, size.end());
  Shape grid = {size[0]};
  grid.insert(grid.end(), extents.begin(), extents.end());
  grid.push_back(axes + 1);
  HONE_ASSIGN_OR_RETURN(const int64_t bytes, TensorBytes(grid, DataType::kFloat32));
  HONE_RETURN_IF_ERROR(node.Generate(bytes));
  grid.back() = axes;
  HONE_ASSIGN_OR_RETURN(const ir::Expr points,
                        CastConstant(GridPoints(extents, align != 0), DtypeOf(theta)));
  HONE_ASSIGN_OR_RETURN(const ir::Expr moved, Emit("nn.batch_matmul", {points, theta}));
  return One(ReshapedTo(moved, grid));
}

// Pixels have had their centres at integers until opset 15.
Results RoiAlign(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr rois, node.Arg(1, "rois"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr batch, node.Arg(2, "batch_indices"));
  HONE_ASSIGN_OR_RETURN(const std::string mode, node.String("mode", "avg"));
  HONE_ASSIGN_OR_RETURN(const int64_t height, node.Int("output_height", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t width, node.Int("output_width", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t ratio, node.Int("sampling_ratio", 0));
  HONE_ASSIGN_OR_RETURN(const double scale, node.Float("spatial_scale", 1));
  HONE_ASSIGN_OR_RETURN(const std::string coordinates,
                        node.String("coordinate_transformation_mode",
                                    node.opset() < 16 ? "output_half_pixel" : "half_pixel"));
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel") {
    return absl::InvalidArgumentError(
        fmt::format("unknown coordinate_transformation_mode {}", coordinates));
  }
  return One(Emit("nn.roi_align", {data, rois, batch},
                  {{"pooled_size", Shape{height, width}},
                   {"sampling_ratio", ratio},
                   {"spatial_scale", scale},
                   {"mode", mode},
                   {"aligned", coordinates == "half_pixel"}}));
}

Results MaxRoiPool(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "X"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr rois, node.Arg(1, "rois"));
  HONE_ASSIGN_OR_RETURN(const Shape pooled, node.Ints("pooled_shape"));
  HONE_ASSIGN_OR_RETURN(const double scale, node.Float("spatial_scale", 1));
  return One(
      Emit("nn.roi_pool", {data, rois}, {{"pooled_size", pooled}, {"spatial_scale", scale}}));
}

}  // namespace

void AddSampleConverters(ConverterTable& table) {
  table["GridSample"] = GridSample;
  table["AffineGrid"] = AffineGrid;
  table["RoiAlign"] = RoiAlign;
  table["MaxRoiPool"] = MaxRoiPool;
}

}  // namespace hone::frontend
