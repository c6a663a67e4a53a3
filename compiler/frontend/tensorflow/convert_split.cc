// Split, SplitV, Unpack.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/frontend/onnx/results.h"
#include "compiler/frontend/tensorflow/converters.h"
#include "support/status.h"

namespace hone::frontend::tf {
namespace {

constexpr int64_t kMostParts = 1 << 16;

// Parts of the given sizes along an axis of the given shape; an image stays one.
Results PartsOf(const Value& value, int64_t given_axis, const Shape& sizes) {
  const int64_t axis = value.channels_first ? ChannelsFirstAxis(given_axis) : given_axis;
  int64_t begin = 0;
  std::vector<Value> parts;
  for (const int64_t size : sizes) {
    if (size < 0 || size > ShapeOf(value.e)[axis] - begin) {
      return absl::InvalidArgumentError(
          fmt::format("parts of {} elements were expected, found more", ShapeOf(value.e)[axis]));
    }
    HONE_ASSIGN_OR_RETURN(ir::Expr part, SliceOf(value.e, axis, begin, begin + size));
    parts.push_back({std::move(part), value.channels_first});
    begin += size;
  }
  if (begin == ShapeOf(value.e)[axis]) return parts;
  return absl::InvalidArgumentError(
      fmt::format("parts of {} elements were expected, found {}", ShapeOf(value.e)[axis], begin));
}

Results Split(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Value value, node.Arg(1, "value"));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, node.Axis(0, RankOf(value.e)));
  HONE_ASSIGN_OR_RETURN(const int64_t count, node.IntAttr("num_split", 0));
  const int64_t extent = GivenShape(value)[axis];
  if (count < 1 || count > kMostParts || extent % count != 0) {
    return absl::InvalidArgumentError(
        fmt::format("num_split that divides {} was expected, found {}", extent, count));
  }
  return PartsOf(value, axis, Shape(count, extent / count));
}

// A size of -1 is what the others leave.
Results SplitV(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const Value value, node.Arg(0, "value"));
  HONE_ASSIGN_OR_RETURN(Shape sizes, node.Ints(1, "size_splits"));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, node.Axis(2, RankOf(value.e)));
  HONE_ASSIGN_OR_RETURN(const int64_t count, node.IntAttr("num_split", 0));
  const auto open = std::find(sizes.begin(), sizes.end(), -1);
  if (static_cast<int64_t>(sizes.size()) != count || count > kMostParts) {
    return absl::InvalidArgumentError(
        fmt::format("num_split is {}, but size_splits has {} numbers", count, sizes.size()));
  }
  if (open != sizes.end()) {
    int64_t rest = GivenShape(value)[axis];
    for (const int64_t size : sizes) rest -= std::clamp<int64_t>(size, 0, rest);
    *open = rest;
  }
  return PartsOf(value, axis, sizes);
}

Results Unpack(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, node.Given(0, "value"));
  HONE_ASSIGN_OR_RETURN(const int64_t given, node.IntAttr("axis", 0));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(given, RankOf(data)));
  const int64_t extent = ShapeOf(data)[axis];
  HONE_ASSIGN_OR_RETURN(const int64_t count, node.IntAttr("num", 0));
  if (count != extent || count > kMostParts) {
    return absl::InvalidArgumentError(
        fmt::format("num is {}, but the axis has {} elements", count, extent));
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<Value> parts, PartsOf({data}, axis, Shape(count, 1)));
  Shape shape = ShapeOf(data);
  shape.erase(shape.begin() + axis);
  std::vector<Value> results;
  for (const Value& part : parts) {
    HONE_ASSIGN_OR_RETURN(ir::Expr e, Reshaped(part.e, shape));
    results.push_back({std::move(e)});
  }
  return results;
}

}  // namespace

void AddSplitConverters(ConverterTable& table) {
  table["Split"] = Split;
  table["SplitV"] = SplitV;
  table["Unpack"] = Unpack;
}

}  // namespace hone::frontend::tf
