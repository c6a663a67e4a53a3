#include "compiler/frontend/onnx/bounded.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/formula.h"
#include "support/status.h"

namespace hone::frontend {
namespace {

// The rows where `chosen` holds, one behind the other, then rows of -1.
ir::Expr Compacted(Formula& f, const ir::Expr& rows, const ir::Expr& chosen) {
  if (!rows || !chosen) return nullptr;
  const int64_t count = ShapeOf(rows)[0];
  const int64_t width = ShapeOf(rows)[1];
  const ir::Expr ones = f.Cast(chosen, DataType::kInt64);
  const ir::Expr before = f.Call("cumsum", {ones}, {{"axis", int64_t{0}}, {"exclusive", true}});
  // What is not chosen goes to one more row, which is cut off.
  const ir::Expr at = f.Where(chosen, before, IntegerConstant(count, DataType::kInt64));
  const ir::Expr none = f.Call("broadcast_to", {IntegerConstant(-1, DataType::kInt64)},
                               {{"shape", Shape{count + 1, width}}});
  const ir::Expr moved = f.Call("scatter_nd", {none, f.Reshape(at, {count, 1}), rows});
  return f.Slice(moved, 0, 0, count);
}

// A constant of `count` rows of the numbers that `number` has for each.
template <typename Number>
absl::StatusOr<ir::Expr> Table(NodeReader& node, int64_t count, int64_t width, Number number) {
  HONE_RETURN_IF_ERROR(node.Generate(2 * count * width * static_cast<int64_t>(sizeof(int64_t))));
  std::vector<int64_t> numbers;
  numbers.reserve(count * width);
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t column = 0; column < width; ++column) numbers.push_back(number(row, column));
  }
  return ir::ConstantFromBytes({{count, width}, DataType::kInt64}, numbers.data());
}

}  // namespace

absl::Status CheckBoundedOperands(NodeReader& node) {
  for (size_t i = 0; i < node.size(); ++i) {
    if (!node.Has(i, Trait::kBounded)) continue;
    if (node.node().op == "Identity") {
      node.GiveTrait(0, Trait::kBounded);
      continue;
    }
    return absl::UnimplementedError(fmt::format(
        "the number of rows of \"{}\" depends on data that is computed at run time; Hone "
        "has it as an output, filled up with -1, and computes nothing of it",
        node.node().inputs[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<ir::Expr> BoundedNonZero(NodeReader& node, const ir::Expr& data) {
  const Shape& shape = ShapeOf(data);
  const int64_t count = data->type->tensor.ElementCount();
  if (shape.empty()) {
    return absl::UnimplementedError(
        fmt::format("a tensor with axes was expected, found {}", data->type->ToString()));
  }
  if (count == 0) return ir::ConstantFromBytes({{RankOf(data), 0}, DataType::kInt64}, nullptr);
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  HONE_ASSIGN_OR_RETURN(const ir::Expr places,
                        Table(node, count, RankOf(data), [&](int64_t element, int64_t axis) {
                          return element / strides[axis] % shape[axis];
                        }));
  Formula f;
  const ir::Expr chosen = f.Cast(f.Reshape(data, {count}), DataType::kBool);
  node.GiveTrait(0, Trait::kBounded);
  return f.FinishOne(f.Transpose(Compacted(f, places, chosen), {1, 0}));
}

absl::StatusOr<ir::Expr> BoundedSuppression(NodeReader& node, const ir::Expr& boxes,
                                            const ir::Expr& scores, const SuppressionInput& input) {
  const int64_t most = std::min(input.most_per_class, input.count);
  const int64_t rows = input.batches * input.classes * most;
  if (rows == 0) return ir::ConstantFromBytes({{0, 3}, DataType::kInt64}, nullptr);
  ir::Attrs attrs = {{"most", most},
                     {"iou_threshold", input.iou_threshold},
                     {"center_point", input.center_point_box}};
  if (input.score_threshold) attrs["score_threshold"] = *input.score_threshold;
  HONE_ASSIGN_OR_RETURN(const ir::Expr classes, Table(node, rows, 2, [&](int64_t row, int64_t i) {
                          const int64_t of_batch = row / most;
                          return i == 0 ? of_batch / input.classes : of_batch % input.classes;
                        }));
  Formula f;
  const ir::Expr sorted = f.Call("topk", {scores}, {{"k", input.count}, {"axis", int64_t{2}}});
  HONE_RETURN_IF_ERROR(f.status());
  const ir::Expr kept = f.Call("nn.keep_boxes", {boxes, scores, ItemsOf(sorted)[1]}, attrs);
  const ir::Expr box = f.Reshape(kept, {rows, 1});
  const ir::Expr chosen =
      f.Call("greater_equal", {f.Reshape(kept, {rows}), IntegerConstant(0, DataType::kInt64)});
  node.GiveTrait(0, Trait::kBounded);
  return f.FinishOne(Compacted(f, f.Concat({classes, box}, 1), chosen));
}

}  // namespace hone::frontend
