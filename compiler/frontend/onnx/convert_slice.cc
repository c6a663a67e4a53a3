// Slice, Gather (constant or computed indices), Pad.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

using Results = absl::StatusOr<std::vector<ir::Expr>>;

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
  HONE_ASSIGN_OR_RETURN(ir::Expr result, Emit("take", {data, indices}, {{"axis", axis}}));
  return std::vector<ir::Expr>{result};
}

absl::StatusOr<double> PadValue(NodeReader& node) {
  if (node.HasAttr("value")) return node.Float("value", 0);
  if (node.Has(2)) return node.ConstantScalar(2, "constant_value");
  return 0.0;
}

// ONNX lists all begins, then all ends, of the axes named (all by default).
Results Pad(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "data"));
  HONE_ASSIGN_OR_RETURN(const std::string mode, node.String("mode", "constant"));
  const std::string name = node.opset() == 1 ? "paddings" : "pads";
  HONE_ASSIGN_OR_RETURN(const auto pads, node.IntsAttrOrArg(name, 1));
  HONE_ASSIGN_OR_RETURN(const double value, PadValue(node));
  const int64_t rank = RankOf(data);
  Shape axes;
  if (node.Has(3)) {
    HONE_ASSIGN_OR_RETURN(axes, node.ConstantInts(3, "axes"));
  } else {
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  }
  if (!pads || pads->size() != 2 * axes.size()) {
    return absl::InvalidArgumentError(
        fmt::format("{} pads were expected, found {}", 2 * axes.size(), pads ? pads->size() : 0));
  }
  Shape widths(2 * rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank) {
      return absl::InvalidArgumentError(
          fmt::format("an axis of {} was expected, found {}", data->type->ToString(), axes[i]));
    }
    widths[2 * axis] = (*pads)[i];
    widths[2 * axis + 1] = (*pads)[axes.size() + i];
  }
  ir::Attrs attrs = {{"pad_width", widths}, {"pad_mode", mode}};
  if (mode == "constant") attrs["pad_value"] = value;
  HONE_ASSIGN_OR_RETURN(ir::Expr result, Emit("nn.pad", {data}, std::move(attrs)));
  return std::vector<ir::Expr>{result};
}

}  // namespace

void AddSliceConverters(ConverterTable& table) {
  table["Slice"] = Slice;
  table["Gather"] = Gather;
  table["Pad"] = Pad;
}

}  // namespace hone::frontend
