// Operators that only move elements: Split, Trilu, Tile, Expand, DepthToSpace, SpaceToDepth,
// CenterCropPad, ReverseSequence.
#include <fmt/format.h>

#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/results.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// `count` parts: as even as can be, a smaller last one since opset 18.
absl::StatusOr<Shape> EvenParts(int64_t extent, int64_t count, bool uneven_allowed) {
  constexpr int64_t kMostParts = 1 << 16;
  if (count < 1 || count > kMostParts || (!uneven_allowed && extent % count != 0)) {
    return absl::InvalidArgumentError(
        fmt::format("an extent of {} was expected to have {} equal parts", extent, count));
  }
  const int64_t size = (extent + count - 1) / count;
  Shape parts(count, size);
  int64_t left = extent;
  for (int64_t& part : parts) {
    part = std::min(part, left);
    left -= part;
  }
  return parts;
}

// The sizes are an attribute until opset 12 and an operand from then on; num_outputs is of
// opset 18.
Results Split(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const int64_t given_axis, node.Int("axis", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(given_axis, RankOf(data)));
  const auto outputs = static_cast<int64_t>(node.node().outputs.size());
  HONE_ASSIGN_OR_RETURN(const int64_t count, node.Int("num_outputs", outputs));
  HONE_ASSIGN_OR_RETURN(const auto given, node.IntsAttrOrArg("split", 1));
  if (count != outputs) {
    return absl::InvalidArgumentError(
        fmt::format("num_outputs is {}, but the node has {} outputs", count, outputs));
  }
  const int64_t extent = ShapeOf(data)[axis];
  Shape parts;
  if (given && static_cast<int64_t>(given->size()) > outputs) {
    return absl::InvalidArgumentError(
        fmt::format("split has {} parts, but the node has {} outputs", given->size(), outputs));
  }
  if (given) {
    parts = *given;
  } else {
    HONE_ASSIGN_OR_RETURN(parts, EvenParts(extent, count, node.opset() >= 18));
  }
  int64_t begin = 0;
  std::vector<ir::Expr> results;
  for (const int64_t part : parts) {
    if (part < 0 || part > extent - begin) {
      return absl::InvalidArgumentError(fmt::format(
          "parts that sum to {} were expected, found one of {} at {}", extent, part, begin));
    }
    HONE_ASSIGN_OR_RETURN(ir::Expr result, SliceOf(data, axis, begin, begin + part));
    results.push_back(std::move(result));
    begin += part;
  }
  if (begin != extent) {
    return absl::InvalidArgumentError(
        fmt::format("parts that sum to {} were expected, found {}", extent, begin));
  }
  return results;
}

Results Trilu(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const int64_t upper, node.Int("upper", 1));
  int64_t k = 0;
  if (node.Has(1)) {
    HONE_ASSIGN_OR_RETURN(const Shape given, node.ConstantInts(1, "k"));
    if (given.size() != 1) return absl::InvalidArgumentError("k was expected to be one number");
    k = given[0];
  }
  return One(Emit("trilu", {data}, {{"upper", upper != 0}, {"k", k}}));
}

// Opset 1 has one axis and a number of tiles, later ones the repetitions of every axis.
Results Tile(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(Shape reps, node.ConstantInts(1, "repeats"));
  if (node.opset() < 6) {
    HONE_ASSIGN_OR_RETURN(const Shape axis, node.ConstantInts(2, "axis"));
    if (reps.size() != 1 || axis.size() != 1) {
      return absl::InvalidArgumentError("one number of tiles and one axis were expected");
    }
    HONE_ASSIGN_OR_RETURN(const int64_t at, AxisOf(axis[0], RankOf(data)));
    const int64_t tiles = reps[0];
    reps.assign(RankOf(data), 1);
    reps[at] = tiles;
  }
  if (static_cast<int64_t>(reps.size()) != RankOf(data)) {
    return absl::InvalidArgumentError(
        fmt::format("{} repeats were expected, found {}", RankOf(data), reps.size()));
  }
  return One(Emit("tile", {data}, {{"reps", std::move(reps)}}));
}

// Broadcasting goes both ways: the result may have extents of the data, where the shape has 1.
Results Expand(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(Shape shape, node.ConstantInts(1, "the shape"));
  const Shape& own = ShapeOf(data);
  while (shape.size() < own.size()) shape.insert(shape.begin(), 1);
  const size_t skip = shape.size() - own.size();
  for (size_t i = 0; i < own.size(); ++i) {
    if (shape[skip + i] == 1) shape[skip + i] = own[i];
  }
  if (shape == own) return std::vector<ir::Expr>{data};
  return One(Emit("broadcast_to", {data}, {{"shape", std::move(shape)}}));
}

absl::StatusOr<int64_t> BlockSize(NodeReader& node, const ir::Expr& data) {
  HONE_ASSIGN_OR_RETURN(const int64_t block, node.Int("blocksize", 0));
  if (RankOf(data) == 4 && block >= 1 && block < (1 << 20)) return block;
  return absl::InvalidArgumentError(
      fmt::format("data of rank 4 and a positive blocksize were expected, found {} and {}",
                  data->type->ToString(), block));
}

absl::StatusOr<ir::Expr> Rearrange(const ir::Expr& data, const Shape& split, const Shape& axes,
                                   const Shape& shape) {
  HONE_ASSIGN_OR_RETURN(ir::Expr e, ReshapedTo(data, split));
  HONE_ASSIGN_OR_RETURN(e, Emit("transpose", {e}, {{"axes", axes}}));
  return ReshapedTo(e, shape);
}

Results DepthToSpace(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const int64_t b, BlockSize(node, data));
  HONE_ASSIGN_OR_RETURN(const std::string mode, node.String("mode", "DCR"));
  const Shape& s = ShapeOf(data);
  if (s[1] % (b * b) != 0 || (mode != "DCR" && mode != "CRD")) {
    return absl::InvalidArgumentError(fmt::format(
        "channels in blocks of {} and a mode of DCR or CRD were expected, found {} and {}", b * b,
        data->type->ToString(), mode));
  }
  const int64_t c = s[1] / (b * b);
  const Shape shape = {s[0], c, s[2] * b, s[3] * b};
  if (mode == "DCR") {
    return One(Rearrange(data, {s[0], b, b, c, s[2], s[3]}, {0, 3, 4, 1, 5, 2}, shape));
  }
  return One(Rearrange(data, {s[0], c, b, b, s[2], s[3]}, {0, 1, 4, 2, 5, 3}, shape));
}

Results SpaceToDepth(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const int64_t b, BlockSize(node, data));
  const Shape& s = ShapeOf(data);
  if (s[2] % b != 0 || s[3] % b != 0) {
    return absl::InvalidArgumentError(
        fmt::format("extents in blocks of {} were expected, found {}", b, data->type->ToString()));
  }
  HONE_ASSIGN_OR_RETURN(const std::string mode, node.String("mode", "DCR"));  // since opset 28
  if (mode != "DCR" && mode != "CRD") {
    return absl::InvalidArgumentError(
        fmt::format("a mode of DCR or CRD was expected, found {}", mode));
  }
  const Shape axes = mode == "DCR" ? Shape{0, 3, 5, 1, 2, 4} : Shape{0, 1, 3, 5, 2, 4};
  return One(Rearrange(data, {s[0], s[1], s[2] / b, b, s[3] / b, b}, axes,
                       {s[0], s[1] * b * b, s[2] / b, s[3] / b}));
}

// Crops and pads so that the centre stays the centre; of an odd rest the larger part is at the end.
Results CenterCropPad(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(ir::Expr data, node.Arg(0, "input_data"));
  HONE_ASSIGN_OR_RETURN(const Shape shape, node.ConstantInts(1, "the shape"));
  std::optional<Shape> given;
  if (node.HasAttr("axes")) {
    HONE_ASSIGN_OR_RETURN(given, node.Ints("axes"));
  }
  HONE_ASSIGN_OR_RETURN(const Shape axes, AxesOf(given, RankOf(data)));
  if (shape.size() != axes.size()) {
    return absl::InvalidArgumentError(
        fmt::format("a shape of {} extents was expected, found {}", axes.size(), shape.size()));
  }
  Shape widths(2 * RankOf(data), 0);
  bool pads = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t extent = ShapeOf(data)[axes[i]];
    if (shape[i] < 0) return absl::InvalidArgumentError("the shape has a negative extent");
    if (shape[i] < extent) {
      const int64_t begin = (extent - shape[i]) / 2;
      HONE_ASSIGN_OR_RETURN(data, SliceOf(data, axes[i], begin, begin + shape[i]));
    } else if (shape[i] > extent) {
      widths[2 * axes[i]] = (shape[i] - extent) / 2;
      widths[2 * axes[i] + 1] = shape[i] - extent - widths[2 * axes[i]];
      pads = true;
    }
  }
  if (!pads) return std::vector<ir::Expr>{data};
  return One(Emit("nn.pad", {data}, {{"pad_width", widths}, {"pad_value", 0.0}}));
}

Results ReverseSequence(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr lengths, node.Arg(1, "sequence_lens"));
  HONE_ASSIGN_OR_RETURN(const int64_t batch, node.Int("batch_axis", 1));
  HONE_ASSIGN_OR_RETURN(const int64_t time, node.Int("time_axis", 0));
  return One(
      Emit("reverse_sequence", {data, lengths}, {{"batch_axis", batch}, {"seq_axis", time}}));
}

}  // namespace

void AddArrangeConverters(ConverterTable& table) {
  table["Split"] = Split;
  table["Trilu"] = Trilu;
  table["Tile"] = Tile;
  table["Expand"] = Expand;
  table["DepthToSpace"] = DepthToSpace;
  table["SpaceToDepth"] = SpaceToDepth;
  table["CenterCropPad"] = CenterCropPad;
  table["ReverseSequence"] = ReverseSequence;
}

}  // namespace hone::frontend
