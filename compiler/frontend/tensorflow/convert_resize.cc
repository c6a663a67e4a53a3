// ResizeBilinear, ResizeNearestNeighbor, DepthToSpace, SpaceToDepth: what ONNX has for images with
// their channels first.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/tensorflow/as_onnx.h"
#include "compiler/frontend/tensorflow/converters.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

absl::StatusOr<ir::Expr> ImageOf(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Value value, node.Arg(0, "images"));
  if (RankOf(value.e) != 4) {
    return absl::InvalidArgumentError(
        fmt::format("an image of 4 axes was expected, found {}", value.e->type->ToString()));
  }
  return node.layouts().ChannelsFirst(value);
}

// Where the centre of a pixel is, and what is nearest: halves go up if corners are aligned or
// pixels have their centres in the middle, else down.
Results Resize(NodeReader& node, bool bilinear) {
  HONE_ASSIGN_OR_RETURN(ir::Expr image, ImageOf(node));
  HONE_ASSIGN_OR_RETURN(const Shape size, node.Ints(1, "size"));
  HONE_ASSIGN_OR_RETURN(const bool corners, node.BoolAttr("align_corners", false));
  HONE_ASSIGN_OR_RETURN(const bool half, node.BoolAttr("half_pixel_centers", false));
  if (size.size() != 2 || (corners && half)) {
    return absl::InvalidArgumentError(
        fmt::format("a size of 2 numbers and one of align_corners and half_pixel_centers were "
                    "expected, found ({}), {} and {}",
                    fmt::join(size, ", "), corners, half));
  }
  if (bilinear) {
    HONE_ASSIGN_OR_RETURN(image, CastedTo(image, DataType::kFloat32));
  }
  const ir::Expr sizes = IntsConstant({ShapeOf(image)[0], ShapeOf(image)[1], size[0], size[1]});
  const std::string coordinates = corners ? "align_corners" : half ? "half_pixel" : "asymmetric";
  const std::string nearest = corners || half ? "round_prefer_ceil" : "floor";
  return One(AsOnnx(node, "Resize", 13, {image, nullptr, nullptr, sizes},
                    {{"mode", std::string(bilinear ? "linear" : "nearest")},
                     {"coordinate_transformation_mode", coordinates},
                     {"nearest_mode", nearest}}),
             /*channels_first=*/true);
}

Results MoveBlocks(NodeReader& node, const std::string& op) {
  HONE_ASSIGN_OR_RETURN(const int64_t block, node.IntAttr("block_size", 0));
  HONE_ASSIGN_OR_RETURN(const std::string format, node.StringAttr("data_format", "NHWC"));
  std::map<std::string, OnnxAttr> attrs = {{"blocksize", block}};
  if (op == "DepthToSpace") attrs["mode"] = std::string("DCR");
  if (format == "NCHW") {
    HONE_ASSIGN_OR_RETURN(const ir::Expr image, node.Given(0, "input"));
    return One(AsOnnx(node, op, 13, {image}, std::move(attrs)));
  }
  if (format != "NHWC") {
    return absl::UnimplementedError("data_format NHWC or NCHW was expected, found " + format);
  }
  HONE_ASSIGN_OR_RETURN(const ir::Expr image, ImageOf(node));
  return One(AsOnnx(node, op, 13, {image}, std::move(attrs)), /*channels_first=*/true);
}

}  // namespace

void AddResizeConverters(ConverterTable& table) {
  table["ResizeBilinear"] = [](NodeReader& node) { return Resize(node, /*bilinear=*/true); };
  table["ResizeNearestNeighbor"] = [](NodeReader& node) {
    return Resize(node, /*bilinear=*/false);
  };
  for (const std::string op : {"DepthToSpace", "SpaceToDepth"}) {
    table[op] = [op](NodeReader& node) { return MoveBlocks(node, op); };
  }
}

}  // namespace hone::frontend::tf
