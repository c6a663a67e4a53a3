// Scalar expressions and stages that the compute definitions of several families use.
#ifndef HONE_COMPILER_OPS_SCALAR_MATH_H_
#define HONE_COMPILER_OPS_SCALAR_MATH_H_

#include <functional>
#include <string>
#include <vector>

#include "compiler/loop/builder.h"
#include "compiler/ops/typing.h"

namespace hone::ops {

loop::Expr Divide(loop::Expr a, loop::Expr b);
// The neutral elements of max and min: infinities, or the ends of the integer's range.
loop::Expr LowestOf(DataType dtype);
loop::Expr HighestOf(DataType dtype);
// a > b in the order that sorting and selecting operators use: a NaN is larger than every number,
// and no NaN is larger than another.
loop::Expr IsLarger(const loop::Expr& a, const loop::Expr& b);
// The number in an attribute, as the nearest value of `dtype`; integers are not rounded through
// double. `fallback` if the attribute is missing.
loop::Expr NumberAttr(const ir::Attrs& attrs, const std::string& name, double fallback,
                      DataType dtype);
// `e` cast to `dtype`; `e` itself if it has that type.
loop::Expr CastTo(DataType dtype, loop::Expr e);
// low <= index < high.
loop::Expr InRange(const loop::Expr& index, int64_t low, int64_t high);
// A position that was read from a tensor, as an int64 index into an axis of `extent`: a negative
// one counts from the end, and the result is clamped to the axis.
loop::Expr IndexWithin(const loop::Expr& position, int64_t extent);
loop::Expr AllOf(const std::vector<loop::Expr>& conditions);  // true for none

// Adds a stage that casts `data` to `dtype`; `data` itself if it has that type.
loop::Buffer CastStage(loop::NestBuilder& builder, const std::string& name,
                       const loop::Buffer& data, DataType dtype);

// Adds a stage named "pad": `data` with `before` and `after` elements of `value` around each axis.
loop::Buffer PadStage(loop::NestBuilder& builder, const loop::Buffer& data, const Shape& before,
                      const Shape& after, const loop::Expr& value);

// The element of `buffer` at an index into a shape that `buffer` broadcasts to.
loop::Expr BroadcastLoad(const loop::Buffer& buffer, const std::vector<loop::Expr>& index);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_SCALAR_MATH_H_
