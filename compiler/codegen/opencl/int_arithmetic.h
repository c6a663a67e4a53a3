// Operators of integers and bools, which wrap around and never trap.
#ifndef HONE_COMPILER_CODEGEN_OPENCL_INT_ARITHMETIC_H_
#define HONE_COMPILER_CODEGEN_OPENCL_INT_ARITHMETIC_H_

#include "compiler/codegen/opencl/c_text.h"
#include "compiler/codegen/opencl/helpers.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/interval.h"

namespace hone::codegen::opencl {

// What is computed with, and the values it can have.
struct IntOperand {
  CText text;
  loop::Interval range;
};

// Whether an int holds all of them.
bool FitsInt(const loop::Interval& range);
// Where that is so, the text as int.
CText Narrowed(const CText& text, const loop::Interval& range);
// Whether it is not zero.
CText Truth(const CText& text);
// The type that two operands of a data type can both be without a change of value.
CType CommonType(const CText& a, const CText& b, DataType dtype);

// `dtype` is that of the operands; numbers of int64 are ints where their ranges allow it. `result`
// holds the values of what comes out; `may_wrap` says of int64 whether that may be no other than a
// sum modulo 2^64.
CText IntUnary(Helpers& helpers, loop::UnaryOp op, const IntOperand& x, DataType dtype,
               const loop::Interval& result, bool may_wrap);
CText IntBinary(Helpers& helpers, loop::BinaryOp op, const IntOperand& x, const IntOperand& y,
                DataType dtype, const loop::Interval& result, bool may_wrap);

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_INT_ARITHMETIC_H_
