// Slice, Gather (constant or computed indices), Pad.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/index_check.h"
#include "compiler/frontend/onnx/results.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// Attributes before opset 10, operands from then on.
Results Slice(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  HONE_ASSIGN_OR_RETURN(const auto starts, node.IntsAttrOrArg("starts", 1));
  HONE_ASSIGN_OR_RETURN(const auto ends, node.IntsAttrOrArg("ends", 2));
  HONE_ASSIGN_OR_RETURN(const auto axes, node.IntsAttrOrArg("axes", 3));
  HONE_ASSIGN_OR_RETURN(const auto steps, node.IntsAttrOrArg("steps", 4));
  if (!starts || !ends) return absl::InvalidArgumentError("its starts or ends are missing");
  ir::Attrs attrs = {{"begin", *starts}, {"end", *ends}};
  if (axes) attrs["axes"] = *axes;
  if (steps) attrs["strides"] = *steps;
  HONE_ASSIGN_OR_RETURN(ir::Expr result, Emit("strided_slice", {data}, std::move(attrs)));
  return std::vector<ir::Expr>{result};
}

Results Gather(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr indices, node.Arg(1, "indices"));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, node.Int("axis", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t at, AxisOf(axis, RankOf(data)));
  HONE_RETURN_IF_ERROR(CheckIndices(indices, ShapeOf(data)[at]));
  HONE_ASSIGN_OR_RETURN(ir::Expr result, Emit("take", {data, indices}, {{"axis", axis}}));
  return std::vector<ir::Expr>{result};
}

// What constant padding holds: one number, which may be computed at run time.
absl::StatusOr<ir::Expr> PadValue(NodeReader& node, DataType dtype) {
  HONE_ASSIGN_OR_RETURN(const double value, node.Float("value", 0));
  if (!node.Has(2)) return ScalarConstant(value, dtype);
  return ReshapedTo(node.args()[2], {});
}

absl::StatusOr<ir::Expr> PadConstant(const ir::Expr& data, const Shape& widths,
                                     const ir::Expr& value) {
  if (IsNumberOfAttr(value)) {
    HONE_ASSIGN_OR_RETURN(const ir::AttrValue number, ConstantNumber(value, "constant_value"));
    return Emit("nn.pad", {data}, {{"pad_width", widths}, {"pad_value", number}});
  }
  HONE_ASSIGN_OR_RETURN(
      const ir::Expr inside,
      Emit("broadcast_to", {ScalarConstant(1, DataType::kBool)}, {{"shape", ShapeOf(data)}}));
  HONE_ASSIGN_OR_RETURN(const ir::Expr mask, Emit("nn.pad", {inside}, {{"pad_width", widths}}));
  HONE_ASSIGN_OR_RETURN(const ir::Expr padded, Emit("nn.pad", {data}, {{"pad_width", widths}}));
  return Emit("where", {mask, padded, value});
}

// Negative pads cut off; `widths` keeps the others.
absl::StatusOr<ir::Expr> Crop(ir::Expr data, Shape* widths) {
  for (int64_t axis = 0; axis < RankOf(data); ++axis) {
    int64_t& before = (*widths)[2 * axis];
    int64_t& after = (*widths)[2 * axis + 1];
    const int64_t extent = ShapeOf(data)[axis];
    if (before < -extent || after < -extent) {
      return absl::InvalidArgumentError(fmt::format("pads of {} and {} cut off more than {} has",
                                                    before, after, data->type->ToString()));
    }
    const int64_t begin = std::max<int64_t>(0, -before);
    const int64_t end = extent - std::max<int64_t>(0, -after);
    if (begin > end) return absl::InvalidArgumentError("pads that leave something were expected");
    HONE_ASSIGN_OR_RETURN(data, SliceOf(data, axis, begin, end));
    before = std::max<int64_t>(0, before);
    after = std::max<int64_t>(0, after);
  }
  return data;
}

// ONNX lists all begins, then all ends, of the axes named (all by default).
Results Pad(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(ir::Expr data, node.Arg(0, "data"));
  HONE_ASSIGN_OR_RETURN(const std::string mode, node.String("mode", "constant"));
  const std::string name = node.opset() == 1 ? "paddings" : "pads";
  HONE_ASSIGN_OR_RETURN(const auto pads, node.IntsAttrOrArg(name, 1));
  HONE_ASSIGN_OR_RETURN(const ir::Expr value, PadValue(node, DtypeOf(data)));
  const int64_t rank = RankOf(data);
  std::optional<Shape> given;
  if (node.Has(3)) {
    HONE_ASSIGN_OR_RETURN(given, node.ConstantInts(3, "axes"));
  }
  HONE_ASSIGN_OR_RETURN(const Shape axes, AxesOf(given, rank));
  if (!pads || pads->size() != 2 * axes.size()) {
    return absl::InvalidArgumentError(
        fmt::format("{} pads were expected, found {}", 2 * axes.size(), pads ? pads->size() : 0));
  }
  Shape widths(2 * rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    widths[2 * axes[i]] = (*pads)[i];
    widths[2 * axes[i] + 1] = (*pads)[axes.size() + i];
  }
  HONE_ASSIGN_OR_RETURN(data, Crop(data, &widths));
  if (std::all_of(widths.begin(), widths.end(), [](int64_t w) { return w == 0; })) {
    return std::vector<ir::Expr>{data};
  }
  if (mode == "constant") return One(PadConstant(data, widths, value));
  return One(Emit("nn.pad", {data}, {{"pad_width", widths}, {"pad_mode", mode}}));
}

}  // namespace

void AddSliceConverters(ConverterTable& table) {
  table["Slice"] = Slice;
  table["Gather"] = Gather;
  table["Pad"] = Pad;
}

}  // namespace hone::frontend
