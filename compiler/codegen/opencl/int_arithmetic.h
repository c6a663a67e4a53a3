// Writes the operators of integers and bools, which wrap around and never trap.
#ifndef HONE_COMPILER_CODEGEN_OPENCL_INT_ARITHMETIC_H_
#define HONE_COMPILER_CODEGEN_OPENCL_INT_ARITHMETIC_H_

#include "compiler/codegen/opencl/c_text.h"
#include "compiler/codegen/opencl/helpers.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/interval.h"

namespace hone::codegen::opencl {

// An operand and the range of its values.
struct IntOperand {
  CText text;
  loop::Interval range;
};

// Whether an int can hold all values of the range.
bool FitsInt(const loop::Interval& range);
// The expression as int if its range fits; otherwise unchanged.
CText Narrowed(const CText& text, const loop::Interval& range);
// The condition that `text` is not zero.
CText Truth(const CText& text);
// A type to which two operands of a data type can be converted without a change of value.
CType CommonType(const CText& a, const CText& b, DataType dtype);

// `dtype` is that of the operands; int64 values are written as int where their ranges allow it.
// `result` is the range of the result; `may_wrap` says that an int64 result may wrap around modulo
// 2^64.
CText IntUnary(Helpers& helpers, loop::UnaryOp op, const IntOperand& x, DataType dtype,
               const loop::Interval& result, bool may_wrap);
CText IntBinary(Helpers& helpers, loop::BinaryOp op, const IntOperand& x, const IntOperand& y,
                DataType dtype, const loop::Interval& result, bool may_wrap);

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_INT_ARITHMETIC_H_
