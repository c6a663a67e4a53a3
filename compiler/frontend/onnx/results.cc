#include "compiler/frontend/onnx/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "compiler/frontend/onnx/evaluation_limit.h"
#include "compiler/ops/call_type.h"
#include "compiler/ops/evaluate.h"
#include "support/status.h"

namespace hone::frontend {

Results One(absl::StatusOr<ir::Expr> result) {
  HONE_RETURN_IF_ERROR(result.status());
  return std::vector<ir::Expr>{*std::move(result)};
}

absl::StatusOr<int64_t> AxisOf(int64_t axis, int64_t rank, std::string_view what) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  return absl::InvalidArgumentError(
      fmt::format("{} was expected to be in [{}, {}), found {}", what, -rank, rank, axis));
}

absl::StatusOr<Shape> AxesOf(const std::optional<Shape>& axes, int64_t rank) {
  Shape result;
  if (!axes) {
    result.resize(rank);
    std::iota(result.begin(), result.end(), 0);
    return result;
  }
  std::vector<bool> seen(rank, false);
  for (const int64_t given : *axes) {
    HONE_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(given, rank, "an entry of axes"));
    if (seen[axis]) {
      return absl::InvalidArgumentError(fmt::format("axes name axis {} more than once", axis));
    }
    seen[axis] = true;
    result.push_back(axis);
  }
  return result;
}

absl::StatusOr<int64_t> BoundaryOf(int64_t axis, int64_t rank) {
  if (axis == rank) return rank;
  return AxisOf(axis, rank);
}

absl::StatusOr<ir::Expr> ReshapedTo(const ir::Expr& data, const Shape& shape) {
  if (shape == ShapeOf(data)) return data;
  bool empty = false;
  for (const int64_t extent : shape) empty = empty || extent == 0;
  // reshape reads a 0 as "as it was"; an empty tensor has no elements to move.
  if (empty && data->type->tensor.ElementCount() == 0) {
    return ScalarConstant(0, DtypeOf(data), shape);
  }
  return Emit("reshape", {data}, {{"newshape", shape}});
}

absl::StatusOr<ir::Expr> CastedTo(const ir::Expr& data, DataType dtype) {
  if (DtypeOf(data) == dtype) return data;
  return Emit("cast", {data}, {{"dtype", dtype}});
}

absl::StatusOr<ir::Expr> CastConstant(const ir::Expr& constant, DataType dtype) {
  HONE_ASSIGN_OR_RETURN(const ir::Expr call, CastedTo(constant, dtype));
  return ops::Evaluate(call);
}

std::vector<ir::Expr> ItemsOf(const ir::Expr& call) {
  std::vector<ir::Expr> items;
  for (size_t i = 0; i < call->type->fields.size(); ++i) {
    items.push_back(
        ir::WithType(ir::TupleGetItem(call, static_cast<int>(i)), call->type->fields[i]));
  }
  return items;
}

absl::StatusOr<ir::Expr> SliceOf(const ir::Expr& data, int64_t axis, int64_t begin, int64_t end) {
  if (begin == 0 && end == ShapeOf(data)[axis]) return data;
  return Emit("strided_slice", {data},
              {{"begin", Shape{begin}}, {"end", Shape{end}}, {"axes", Shape{axis}}});
}

absl::StatusOr<ir::Expr> ConcatenationOf(std::vector<ir::Expr> parts, int64_t axis) {
  constexpr size_t kMostParts = 32;
  while (parts.size() > 1) {
    std::vector<ir::Expr> joined;
    for (size_t i = 0; i < parts.size(); i += kMostParts) {
      const size_t end = std::min(parts.size(), i + kMostParts);
      std::vector<ir::Expr> group(parts.begin() + static_cast<int64_t>(i),
                                  parts.begin() + static_cast<int64_t>(end));
      if (group.size() == 1) {
        joined.push_back(group[0]);
        continue;
      }
      HONE_ASSIGN_OR_RETURN(
          ir::Expr e, Emit("concatenate", {ops::TypedTuple(std::move(group))}, {{"axis", axis}}));
      joined.push_back(std::move(e));
    }
    parts = std::move(joined);
  }
  return parts[0];
}

absl::StatusOr<ir::Expr> ConstantOf(const ir::Expr& e) {
  constexpr int64_t kMostElements = 1 << 24;
  constexpr int64_t kMostComputed = 1 << 16;
  if (e->kind == ir::ExprKind::kConstant) {
    HONE_RETURN_IF_ERROR(EvaluationLimit::Charge(*e));
    if (e->type->tensor.ElementCount() <= kMostElements) return e;
    return absl::UnimplementedError("a constant that is too large to look into");
  }
  const std::vector<ir::Expr> order = ir::PostOrder(e);
  for (const ir::Expr& node : order) {
    const bool large = !node->type->is_tuple && node->type->tensor.ElementCount() > kMostComputed;
    if (large) return NeedsValue(e, "a tensor that is too large to compute at import");
    if (node->kind == ir::ExprKind::kVar) {
      return NeedsValue(e, "a tensor that is computed at run time");
    }
    HONE_RETURN_IF_ERROR(EvaluationLimit::Charge(*node, order.size()));
  }
  return ops::Evaluate(e);
}

namespace {

template <typename T>
absl::StatusOr<std::vector<T>> ConstantsAs(DataType dtype, const ir::Expr& e,
                                           std::string_view what) {
  const absl::StatusOr<ir::Expr> constant = ConstantOf(e);
  if (!constant.ok()) {
    return NeedsValue(e, fmt::format("{} must be known at compile time", what));
  }
  HONE_ASSIGN_OR_RETURN(const ir::Expr wide, CastConstant(*constant, dtype));
  std::vector<T> numbers(wide->data.size_bytes() / sizeof(T));
  if (!numbers.empty()) std::memcpy(numbers.data(), wide->data.bytes(), wide->data.size_bytes());
  return numbers;
}

}  // namespace

absl::StatusOr<std::vector<double>> ConstantNumbers(const ir::Expr& e, std::string_view what) {
  return ConstantsAs<double>(DataType::kFloat64, e, what);
}

absl::StatusOr<std::vector<int64_t>> ConstantIntegers(const ir::Expr& e, std::string_view what) {
  if (IsFloat(DtypeOf(e))) {
    return absl::InvalidArgumentError(
        fmt::format("{} was expected to be integers, found {}", what, e->type->ToString()));
  }
  return ConstantsAs<int64_t>(DataType::kInt64, e, what);
}

bool IsNumberOfAttr(const ir::Expr& e) {
  return e->kind == ir::ExprKind::kConstant && DtypeOf(e) != DataType::kUInt64;
}

absl::StatusOr<ir::AttrValue> ConstantNumber(const ir::Expr& e, std::string_view what) {
  HONE_ASSIGN_OR_RETURN(const auto numbers, ConstantNumbers(e, what));
  if (numbers.size() != 1) {
    return absl::InvalidArgumentError(
        fmt::format("{} was expected to be one number, found {}", what, e->type->ToString()));
  }
  constexpr double kExact = 0x1p53;
  if (IsFloat(DtypeOf(e)) || std::abs(numbers[0]) < kExact) return numbers[0];
  HONE_ASSIGN_OR_RETURN(const auto integers, ConstantIntegers(e, what));
  return integers[0];
}

}  // namespace hone::frontend
