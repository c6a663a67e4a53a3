// What the type functions of operators share: checking operands, axes and broadcasts. Every error
// names the operator and the operand, what was expected and what was found.
#ifndef HONE_COMPILER_OPS_TYPING_H_
#define HONE_COMPILER_OPS_TYPING_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr.h"

namespace hone::ops {

using Shape = std::vector<int64_t>;

ir::Type TensorOf(Shape shape, DataType dtype);
std::string ShapeText(const Shape& shape);  // "(1, 3, 224, 224)"

// The error "nn.conv2d: operand weight: expected ..., found ...".
absl::Status OperandError(std::string_view op, std::string_view operand,
                          const std::string& expected, const std::string& found);
absl::Status AttrError(std::string_view op, std::string_view attr, const std::string& expected,
                       const std::string& found);

// The type of argument `index`, which must be a tensor and, unless `rank` is negative, of that
// rank. `operand` is its name in errors.
absl::StatusOr<ir::TensorType> TensorOperand(std::string_view op, const std::vector<ir::Type>& args,
                                             size_t index, std::string_view operand, int rank = -1);
// The same for an argument that must have exactly the shape and element type of `expected`.
absl::StatusOr<ir::TensorType> ExactOperand(std::string_view op, const std::vector<ir::Type>& args,
                                            size_t index, std::string_view operand,
                                            const ir::TensorType& expected);

// The axis as a number from 0 to rank - 1. `axis` may also be from -rank to -1, which counts from
// the end.
absl::StatusOr<int64_t> NormalizeAxis(std::string_view op, int64_t axis, size_t rank);
// The same for a call that is typed already, so that the axis is known to be valid.
inline int64_t AxisFromFront(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}
// The axes from the front, sorted and without duplicates; all axes if `axes` is empty.
absl::StatusOr<Shape> NormalizeAxes(std::string_view op, const Shape& axes, size_t rank);

// The shape that both broadcast to, by NumPy's rules.
absl::StatusOr<Shape> BroadcastShape(std::string_view op, const Shape& a, const Shape& b);

// The type in which sums of products of `dtype` are accumulated: float32 for float16 and bfloat16,
// int32 for int8, uint8 and int16, uint32 for uint16, else the type itself.
DataType AccumulatorType(DataType dtype);

// Whether these types can be multiplied in a sum of products: equal types, or int8 and uint8 in any
// combination.
bool AreMultiplied(DataType data, DataType weight);

int64_t Product(const Shape& shape);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_TYPING_H_
