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
// a > b in the one order that sorts and selects: a NaN is larger than every number, and no NaN is
// larger than another.
loop::Expr IsLarger(const loop::Expr& a, const loop::Expr& b);
// The number that an attribute holds, an integer exactly, as the nearest of the type; `fallback`
// where it is missing.
loop::Expr NumberAttr(const ir::Attrs& attrs, const std::string& name, double fallback,
                      DataType dtype);
// Cast, or `e` itself where it has the type.
loop::Expr CastTo(DataType dtype, loop::Expr e);
// low <= index < high.
loop::Expr InRange(const loop::Expr& index, int64_t low, int64_t high);
// A position in an axis of `extent` that a tensor holds, as an int64 index that never leaves it:
// negative ones count from the end, what is beyond is clamped.
loop::Expr IndexWithin(const loop::Expr& position, int64_t extent);
loop::Expr AllOf(const std::vector<loop::Expr>& conditions);  // true for none

// A copy of `data` in another element type; `data` itself where it has it.
loop::Buffer CastStage(loop::NestBuilder& builder, const std::string& name,
                       const loop::Buffer& data, DataType dtype);

// A stage named "pad": `data` with `before` and `after` elements of `value` around each axis.
loop::Buffer PadStage(loop::NestBuilder& builder, const loop::Buffer& data, const Shape& before,
                      const Shape& after, const loop::Expr& value);

// The element of `buffer` at an index of a shape it broadcasts to.
loop::Expr BroadcastLoad(const loop::Buffer& buffer, const std::vector<loop::Expr>& index);

}  // namespace hone::ops

#endif  // HONE_COMPILER_OPS_SCALAR_MATH_H_
