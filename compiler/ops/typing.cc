#include "compiler/ops/typing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/status.h"

namespace hone::ops {

ir::Type TensorOf(Shape shape, DataType dtype) {
  ir::Type type;
  type.tensor = {std::move(shape), dtype};
  return type;
}

std::string ShapeText(const Shape& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

absl::Status OperandError(std::string_view op, std::string_view operand,
                          const std::string& expected, const std::string& found) {
  return absl::InvalidArgumentError(
      fmt::format("{}: operand {}: expected {}, found {}", op, operand, expected, found));
}

absl::Status AttrError(std::string_view op, std::string_view attr, const std::string& expected,
                       const std::string& found) {
  return absl::InvalidArgumentError(
      fmt::format("{}: attribute {}: expected {}, found {}", op, attr, expected, found));
}

absl::StatusOr<ir::TensorType> TensorOperand(std::string_view op, const std::vector<ir::Type>& args,
                                             size_t index, std::string_view operand, int rank) {
  const ir::Type& type = args[index];
  if (!type.IsTensor()) return OperandError(op, operand, "a tensor", type.ToString());
  if (rank >= 0 && type.tensor.shape.size() != static_cast<size_t>(rank)) {
    return OperandError(op, operand, fmt::format("a tensor of rank {}", rank),
                        type.tensor.ToString());
  }
  return type.tensor;
}

absl::StatusOr<ir::TensorType> ExactOperand(std::string_view op, const std::vector<ir::Type>& args,
                                            size_t index, std::string_view operand,
                                            const ir::TensorType& expected) {
  const ir::Type& type = args[index];
  if (!type.IsTensor() || !(type.tensor == expected)) {
    return OperandError(op, operand, expected.ToString(), type.ToString());
  }
  return type.tensor;
}

absl::StatusOr<int64_t> NormalizeAxis(std::string_view op, int64_t axis, size_t rank) {
  const auto r = static_cast<int64_t>(rank);
  if (axis < -r || axis >= r) {
    return AttrError(op, "axis", fmt::format("an axis in [{}, {})", -r, r),
                     fmt::format("{}", axis));
  }
  return AxisFromFront(axis, rank);
}

absl::StatusOr<Shape> NormalizeAxes(std::string_view op, const Shape& axes, size_t rank) {
  Shape result;
  for (size_t i = 0; axes.empty() && i < rank; ++i) result.push_back(static_cast<int64_t>(i));
  for (const int64_t axis : axes) {
    HONE_ASSIGN_OR_RETURN(const int64_t normal, NormalizeAxis(op, axis, rank));
    result.push_back(normal);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

absl::StatusOr<Shape> BroadcastShape(std::string_view op, const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) {
      return OperandError(op, "rhs", "a shape that broadcasts with " + ShapeText(a), ShapeText(b));
    }
    result[result.size() - 1 - i] = da == 1 ? db : da;
  }
  return result;
}

DataType AccumulatorType(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat16:
    case DataType::kBFloat16:
      return DataType::kFloat32;
    case DataType::kInt8:
    case DataType::kUInt8:
    case DataType::kInt16:
      return DataType::kInt32;
    case DataType::kUInt16:
      return DataType::kUInt32;
    default:
      return dtype;
  }
}

bool AreMultiplied(DataType data, DataType weight) {
  const auto is_byte = [](DataType dtype) { return SizeBytes(dtype) == 1 && IsInteger(dtype); };
  return data == weight || (is_byte(data) && is_byte(weight));
}

int64_t Product(const Shape& shape) {
  int64_t product = 1;
  for (const int64_t extent : shape) product *= extent;
  return product;
}

}  // namespace hone::ops
