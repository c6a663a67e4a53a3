// Operators whose result has a shape that depends on the data: Compress, NonZero, Unique,
// NonMaxSuppression. Modules have static shapes, so what decides the shape must be known now, or
// the result has the largest that it can have (bounded.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "compiler/frontend/onnx/bounded.h"
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/non_max_suppression.h"
#include "compiler/frontend/onnx/results.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

using Ints = std::vector<int64_t>;

// Operand `i` where it is known now.
absl::StatusOr<ir::Expr> Known(const NodeReader& node, size_t i, std::string_view what) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr arg, node.Arg(i, what));
  absl::StatusOr<ir::Expr> constant = ConstantOf(arg);
  if (constant.ok()) return constant;
  return Reworded(constant.status(),
                  fmt::format("the shape of its result depends on {}, which is computed at run "
                              "time; Hone compiles static shapes, so {} must be a constant",
                              what, what));
}

Ints Strides(const Shape& shape) {
  Ints strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

Results NonZero(NodeReader& node) {
  absl::StatusOr<ir::Expr> known = Known(node, 0, "X");
  if (!known.ok() && node.Has(0) && node.allows_bounds()) {
    return One(BoundedNonZero(node, node.args()[0]));
  }
  HONE_ASSIGN_OR_RETURN(const ir::Expr data, std::move(known));
  HONE_ASSIGN_OR_RETURN(const auto numbers, ConstantNumbers(data, "X"));
  Ints found;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != 0) found.push_back(static_cast<int64_t>(i));
  }
  const Shape& shape = ShapeOf(data);
  const Ints strides = Strides(shape);
  HONE_RETURN_IF_ERROR(node.Generate(static_cast<int64_t>(found.size() * shape.size() * 8)));
  Ints result;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    for (const int64_t at : found) result.push_back(at / strides[axis] % shape[axis]);
  }
  const Shape result_shape = {RankOf(data), static_cast<int64_t>(found.size())};
  return std::vector<ir::Expr>{
      ir::ConstantFromBytes({result_shape, DataType::kInt64}, result.data())};
}

absl::StatusOr<ir::Expr> Flat(const ir::Expr& data) {
  return ReshapedTo(data, {data->type->tensor.ElementCount()});
}

// Only the condition decides the shape; the data may be computed at run time.
Results Compress(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(ir::Expr data, node.Arg(0, "input"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr condition, Known(node, 1, "condition"));
  HONE_ASSIGN_OR_RETURN(const auto chosen, ConstantNumbers(condition, "condition"));
  int64_t axis = 0;
  if (node.HasAttr("axis")) {
    HONE_ASSIGN_OR_RETURN(const int64_t given, node.Int("axis", 0));
    HONE_ASSIGN_OR_RETURN(axis, AxisOf(given, RankOf(data)));
  } else {
    HONE_ASSIGN_OR_RETURN(data, Flat(data));
  }
  Ints positions;
  const auto extent = static_cast<size_t>(ShapeOf(data)[axis]);
  for (size_t i = 0; i < chosen.size() && i < extent; ++i) {
    if (chosen[i] != 0) positions.push_back(static_cast<int64_t>(i));
  }
  return One(Emit("take", {data, IntsConstant(positions)}, {{"axis", axis}}));
}

// Integers in the order of the elements: equal elements give equal keys, NaN the largest.
absl::StatusOr<Ints> OrderKeys(const ir::Expr& data) {
  if (!IsFloat(DtypeOf(data))) {
    HONE_ASSIGN_OR_RETURN(const ir::Expr wide, CastConstant(data, DataType::kInt64));
    Ints keys(wide->data.size_bytes() / sizeof(int64_t));
    if (!keys.empty()) std::memcpy(keys.data(), wide->data.bytes(), wide->data.size_bytes());
    if (DtypeOf(data) == DataType::kUInt64) {  // in the order of what they are without a sign
      for (int64_t& key : keys) key ^= INT64_MIN;
    }
    return keys;
  }
  HONE_ASSIGN_OR_RETURN(const auto numbers, ConstantNumbers(data, "X"));
  Ints keys;
  for (const double number : numbers) {
    const double value = std::isnan(number) ? NAN : number + 0.0;  // -0 is 0
    int64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if (std::isnan(number)) bits = INT64_MAX;
    keys.push_back(bits < 0 ? bits ^ INT64_MAX : bits);
  }
  return keys;
}

// The slices of a tensor along one axis, each as the keys of its elements.
std::vector<Ints> SlicesOf(const Ints& keys, const Shape& shape, int64_t axis) {
  const int64_t inner = Strides(shape)[axis];
  const int64_t extent = shape[axis];
  std::vector<Ints> slices(extent);
  for (size_t i = 0; i < keys.size(); ++i) {
    slices[static_cast<int64_t>(i) / inner % extent].push_back(keys[i]);
  }
  return slices;
}

Results Unique(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(ir::Expr data, Known(node, 0, "X"));
  HONE_ASSIGN_OR_RETURN(const int64_t sorted, node.Int("sorted", 1));
  int64_t axis = 0;
  if (node.HasAttr("axis")) {
    HONE_ASSIGN_OR_RETURN(const int64_t given, node.Int("axis", 0));
    HONE_ASSIGN_OR_RETURN(axis, AxisOf(given, RankOf(data)));
  } else {
    HONE_ASSIGN_OR_RETURN(data, Flat(data));
  }
  HONE_ASSIGN_OR_RETURN(const Ints keys, OrderKeys(data));
  const std::vector<Ints> slices = SlicesOf(keys, ShapeOf(data), axis);
  Ints order(slices.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return slices[a] < slices[b]; });
  Ints first;  // of each distinct slice, in sorted order
  Ints group(slices.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || slices[order[i]] != slices[order[i - 1]]) first.push_back(order[i]);
    group[order[i]] = static_cast<int64_t>(first.size()) - 1;
  }
  Ints rank(first.size());  // where each group is in the result
  std::iota(rank.begin(), rank.end(), 0);
  if (sorted == 0) {
    Ints by_position = rank;
    std::sort(by_position.begin(), by_position.end(),
              [&](int64_t a, int64_t b) { return first[a] < first[b]; });
    for (size_t i = 0; i < rank.size(); ++i) rank[by_position[i]] = static_cast<int64_t>(i);
    std::sort(first.begin(), first.end());
  }
  Ints inverse;
  Ints counts(first.size(), 0);
  for (const int64_t g : group) {
    inverse.push_back(rank[g]);
    ++counts[rank[g]];
  }
  HONE_ASSIGN_OR_RETURN(const ir::Expr values,
                        Emit("take", {data, IntsConstant(first)}, {{"axis", axis}}));
  return std::vector<ir::Expr>{values, IntsConstant(first), IntsConstant(inverse),
                               IntsConstant(counts)};
}

absl::StatusOr<double> OptionalNumber(const NodeReader& node, size_t i, const char* what) {
  if (!node.Has(i)) return 0.0;
  HONE_ASSIGN_OR_RETURN(const ir::Expr e, Known(node, i, what));
  HONE_ASSIGN_OR_RETURN(const auto numbers, ConstantNumbers(e, what));
  if (numbers.size() == 1) return numbers[0];
  return absl::InvalidArgumentError(fmt::format("{} was expected to be one number", what));
}

Results Suppress(NodeReader& node) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr boxes, node.Arg(0, "boxes"));
  HONE_ASSIGN_OR_RETURN(const ir::Expr scores, node.Arg(1, "scores"));
  SuppressionInput input;
  HONE_ASSIGN_OR_RETURN(const double most, OptionalNumber(node, 2, "max_output_boxes_per_class"));
  HONE_ASSIGN_OR_RETURN(input.iou_threshold, OptionalNumber(node, 3, "iou_threshold"));
  HONE_ASSIGN_OR_RETURN(const double lowest, OptionalNumber(node, 4, "score_threshold"));
  if (node.Has(4)) input.score_threshold = lowest;
  HONE_ASSIGN_OR_RETURN(const int64_t center, node.Int("center_point_box", 0));
  const Shape& b = ShapeOf(boxes);
  const Shape& s = ShapeOf(scores);
  if (b.size() != 3 || s.size() != 3 || b[2] != 4 || b[0] != s[0] || b[1] != s[2]) {
    return absl::InvalidArgumentError(
        fmt::format("boxes of four numbers and scores for them were expected, found {} and {}",
                    boxes->type->ToString(), scores->type->ToString()));
  }
  input.batches = s[0];
  input.classes = s[1];
  input.count = s[2];
  input.most_per_class = most > 0 ? static_cast<int64_t>(std::min(most, 1e15)) : 0;
  input.center_point_box = center != 0;
  const absl::StatusOr<ir::Expr> known_boxes = Known(node, 0, "boxes");
  const absl::StatusOr<ir::Expr> known_scores = Known(node, 1, "scores");
  if ((!known_boxes.ok() || !known_scores.ok()) && node.allows_bounds()) {
    return One(BoundedSuppression(node, boxes, scores, input));
  }
  HONE_RETURN_IF_ERROR(known_boxes.status());
  HONE_RETURN_IF_ERROR(known_scores.status());
  HONE_ASSIGN_OR_RETURN(input.boxes, ConstantNumbers(*known_boxes, "boxes"));
  HONE_ASSIGN_OR_RETURN(input.scores, ConstantNumbers(*known_scores, "scores"));
  const Ints chosen = NonMaxSuppression(input);
  const Shape shape = {static_cast<int64_t>(chosen.size()) / 3, 3};
  return std::vector<ir::Expr>{ir::ConstantFromBytes({shape, DataType::kInt64}, chosen.data())};
}

}  // namespace

void AddDynamicConverters(ConverterTable& table) {
  table["Compress"] = Compress;
  table["NonMaxSuppression"] = Suppress;
  table["NonZero"] = NonZero;
  table["Unique"] = Unique;
}

}  // namespace hone::frontend
