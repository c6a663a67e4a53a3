// Reshape, Squeeze, ExpandDims, Transpose, ConcatV2, Pack, Shape.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/tensorflow/converters.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

// `shape` with its -1 worked out, for `count` elements.
absl::StatusOr<Shape> Resolved(Shape shape, int64_t count) {
  int64_t known = 1;
  int64_t* open = nullptr;
  bool fits = true;
  for (int64_t& extent : shape) {
    if (extent == -1 && open == nullptr) {
      open = &extent;
    } else {
      fits = fits && extent >= 0 && !__builtin_mul_overflow(known, extent, &known);
    }
  }
  fits = fits && (open != nullptr ? known > 0 && count % known == 0 : known == count);
  if (!fits) {
    return absl::InvalidArgumentError(fmt::format("a shape of {} elements was expected, found ({})",
                                                  count, fmt::join(shape, ", ")));
  }
  if (open != nullptr) *open = count / known;
  return shape;
}

Results ReshapeTo(NodeReader& node, const Value& value, const Shape& shape) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr e, node.layouts().InGivenOrder(value));
  return One(Reshaped(e, shape));
}

Results Reshape(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Value value, node.Arg(0, "tensor"));
  HONE_ASSIGN_OR_RETURN(const Shape given, node.Ints(1, "shape"));
  HONE_ASSIGN_OR_RETURN(const Shape shape, Resolved(given, value.e->type->tensor.ElementCount()));
  if (shape == GivenShape(value)) return std::vector<Value>{value};
  return ReshapeTo(node, value, shape);
}

Results Squeeze(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Value value, node.Arg(0, "input"));
  const Shape shape = GivenShape(value);
  HONE_ASSIGN_OR_RETURN(Shape given, node.IntsAttr("squeeze_dims"));
  if (given.empty()) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 1) given.push_back(static_cast<int64_t>(i));
    }
  }
  HONE_ASSIGN_OR_RETURN(const Shape axes, AxesOf(given, static_cast<int64_t>(shape.size())));
  Shape left;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool goes = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    if (goes && shape[i] != 1) {
      return absl::InvalidArgumentError(fmt::format(
          "axis {} was expected to be of 1 element, found ({})", i, fmt::join(shape, ", ")));
    }
    if (!goes) left.push_back(shape[i]);
  }
  return ReshapeTo(node, value, left);
}

Results ExpandDims(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Value value, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, node.Axis(1, RankOf(value.e) + 1));
  Shape shape = GivenShape(value);
  shape.insert(shape.begin() + axis, 1);
  return ReshapeTo(node, value, shape);
}

Results Transpose(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Value value, node.Arg(0, "x"));
  HONE_ASSIGN_OR_RETURN(const Shape given, node.Ints(1, "perm"));
  const int64_t rank = RankOf(value.e);
  HONE_ASSIGN_OR_RETURN(Shape axes, AxesOf(given, rank));
  if (static_cast<int64_t>(axes.size()) != rank) {
    return absl::InvalidArgumentError(
        fmt::format("a perm of {} axes was expected, found ({})", rank, fmt::join(given, ", ")));
  }
  if (value.channels_first) {
    for (int64_t& axis : axes) axis = ChannelsFirstAxis(axis);
  }
  return One(node.layouts().Transposed(value.e, axes));
}

// Images with their channels first stay so, and take the others along.
Results Concat(NodeReader& node, size_t axis_at, size_t begin, size_t end) {
  HONE_RETURN_IF_ERROR(node.IntAttr("N", 0).status());
  if (begin >= end) return absl::InvalidArgumentError("operands were expected, found none");
  bool images = true;
  bool channels_first = false;
  for (size_t i = begin; i < end; ++i) {
    images = images && RankOf(node.args()[i].e) == 4;
    channels_first = channels_first || node.args()[i].channels_first;
  }
  channels_first = channels_first && images;
  HONE_ASSIGN_OR_RETURN(int64_t axis, node.Axis(axis_at, RankOf(node.args()[begin].e)));
  if (channels_first) axis = ChannelsFirstAxis(axis);
  std::vector<ir::Expr> parts;
  for (size_t i = begin; i < end; ++i) {
    const Value& value = node.args()[i];
    HONE_ASSIGN_OR_RETURN(ir::Expr part, channels_first ? node.layouts().ChannelsFirst(value)
                                                        : node.layouts().AsGiven(value));
    parts.push_back(std::move(part));
  }
  return One(ConcatenationOf(std::move(parts), axis), channels_first);
}

Results Pack(NodeReader& node) {
  HONE_RETURN_IF_ERROR(node.IntAttr("N", 0).status());
  HONE_ASSIGN_OR_RETURN(const int64_t given, node.IntAttr("axis", 0));
  std::vector<ir::Expr> parts;
  int64_t axis = 0;
  for (size_t i = 0; i < std::max<size_t>(1, node.size()); ++i) {
    HONE_ASSIGN_OR_RETURN(const ir::Expr e, node.Given(i, "values"));
    HONE_ASSIGN_OR_RETURN(axis, AxisOf(given, RankOf(e) + 1));
    Shape shape = ShapeOf(e);
    shape.insert(shape.begin() + axis, 1);
    HONE_ASSIGN_OR_RETURN(ir::Expr part, Reshaped(e, shape));
    parts.push_back(std::move(part));
  }
  return One(ConcatenationOf(std::move(parts), axis));
}

Results ShapeOfTensor(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Value value, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const DataType dtype, node.TypeAttrOf("out_type", 3));
  return One(CastConstant(IntsConstant(GivenShape(value)), dtype));
}

Results Size(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Value value, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const DataType dtype, node.TypeAttrOf("out_type", 3));
  const int64_t count = value.e->type->tensor.ElementCount();
  return One(CastConstant(ir::ConstantFromBytes({{}, DataType::kInt64}, &count), dtype));
}

}  // namespace

void AddShapeConverters(ConverterTable& table) {
  table["Reshape"] = Reshape;
  table["Squeeze"] = Squeeze;
  table["ExpandDims"] = ExpandDims;
  table["Transpose"] = Transpose;
  table["ConcatV2"] = [](NodeReader& node) {
    const size_t last = node.size() == 0 ? 0 : node.size() - 1;
    return Concat(node, last, 0, last);
  };
  table["Concat"] = [](NodeReader& node) { return Concat(node, 0, 1, node.size()); };
  table["Pack"] = Pack;
  table["Shape"] = ShapeOfTensor;
  table["Size"] = Size;
}

}  // namespace hone::frontend::tf
