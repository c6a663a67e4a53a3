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

// The 8- and 16-bit integers that quantised tensors have.
bool IsQuantized(DataType dtype);

// A scale or zero point for `data`: one number; a vector of the extent of `axis`; or, with the rank
// of the data, a shape that broadcasts to it.
absl::Status CheckQuantParam(std::string_view op, std::string_view operand,
                             const ir::TensorType& param, const ir::TensorType& data, int64_t axis);
// Its element for one of the data.
loop::Expr LoadQuantParam(const loop::Buffer& param, const std::vector<loop::Expr>& index,
                          int64_t axis);

// Rounded to even, `zero_point` (int32) added, and clamped to what `dtype` holds.
loop::Expr RoundAndSaturate(const loop::Expr& x, const loop::Expr& zero_point, DataType dtype);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_QNN_H_
