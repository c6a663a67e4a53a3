// Rank-0 constants as text: "1.5f32", "-3i64", "true". A value that decimal digits cannot express
// is written as its bits, such as "float32(0x7fc00000)". The text is exact: it parses back to the
// same bits.
#ifndef HONE_COMPILER_IR_LITERAL_H_
#define HONE_COMPILER_IR_LITERAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/expr.h"

namespace hone::ir {

// The text of a rank-0 constant.
std::string LiteralText(const ExprNode& constant);
// `digits` is a decimal number, `suffix` "f32", "i64", ...; nullptr if they make no valid constant.
Expr LiteralFromDecimal(std::string_view digits, std::string_view suffix);
// The constant whose little-endian bits are `bits`; nullptr if they do not fit `dtype`.
Expr LiteralFromBits(DataType dtype, uint64_t bits);
Expr BoolLiteral(bool value);

// The value of a rank-0 or one-element constant of any dtype.
double ScalarValue(const ExprNode& constant);

// The text of a double attribute: the shortest form that parses back, always with a point or an
// exponent, or as inf or nan.
std::string DoubleText(double value);

// Conversions from and to IEEE half and bfloat16. Those from float round to nearest, ties to even.
float HalfToFloat(uint16_t bits);
uint16_t FloatToHalf(float value);
float BFloat16ToFloat(uint16_t bits);
uint16_t FloatToBFloat16(float value);

}  // namespace hone::ir

#endif  // HONE_COMPILER_IR_LITERAL_H_
