// What the quantised operators share: zero points and scales, which are one number for the whole
// tensor, a vector along an axis, or a tensor that broadcasts.
#ifndef HONE_COMPILER_OPS_QNN_H_
#define HONE_COMPILER_OPS_QNN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ops/scalar_math.h"
#include "compiler/ops/typing.h"

namespace hone::ops {

// Whether quantised tensors may have this type: 8- and 16-bit integers.
bool IsQuantized(DataType dtype);

// Checks a scale or zero point of `data`. It must be one number, a vector with the extent of
// `axis`, or a tensor of the same rank that broadcasts to the data.
absl::Status CheckQuantParam(std::string_view op, std::string_view operand,
                             const ir::TensorType& param, const ir::TensorType& data, int64_t axis);
// The element of a scale or zero point that belongs to element `index` of the data.
loop::Expr LoadQuantParam(const loop::Buffer& param, const std::vector<loop::Expr>& index,
                          int64_t axis);

// `x` rounded to nearest, ties to even, plus `zero_point` (int32), clamped to the range of `dtype`.
loop::Expr RoundAndSaturate(const loop::Expr& x, const loop::Expr& zero_point, DataType dtype);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_QNN_H_
