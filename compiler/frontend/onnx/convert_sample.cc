// GridSample and RoiAlign.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/results.h"
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

}  // namespace

void AddSampleConverters(ConverterTable& table) {
  table["GridSample"] = GridSample;
  table["RoiAlign"] = RoiAlign;
}

}  // namespace hone::frontend
