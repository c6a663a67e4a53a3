// Writes the operators of floats, with the results of IEEE 754 and of the interpreter. 16-bit
// floats are computed as float and rounded.
#ifndef HONE_COMPILER_CODEGEN_OPENCL_FLOAT_ARITHMETIC_H_
#define HONE_COMPILER_CODEGEN_OPENCL_FLOAT_ARITHMETIC_H_

#include <optional>

#include "compiler/codegen/opencl/c_text.h"
#include "compiler/codegen/opencl/helpers.h"
#include "compiler/loop/expr.h"

namespace hone::codegen::opencl {

// `dtype` is that of the operands. `exponent` is the right operand of kPow if that is a constant;
// `x` is then written up to three times.
CText FloatUnary(Helpers& helpers, loop::UnaryOp op, const CText& x, DataType dtype);
CText FloatBinary(Helpers& helpers, loop::BinaryOp op, const CText& x, const CText& y,
                  DataType dtype, std::optional<double> exponent);
// The nearest value of the type.
CText RoundTo(Helpers& helpers, const CText& value, DataType dtype);

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_FLOAT_ARITHMETIC_H_
