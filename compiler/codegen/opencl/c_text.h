// Pieces of OpenCL C: scalar types, constants, and expressions with their type and precedence. Pure
// functions.
#ifndef HONE_COMPILER_CODEGEN_OPENCL_C_TEXT_H_
#define HONE_COMPILER_CODEGEN_OPENCL_C_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/data_type.h"

namespace hone::codegen::opencl {

enum class CType {
  kBool,
  kChar,
  kUchar,
  kShort,
  kUshort,
  kInt,
  kUint,
  kLong,
  kUlong,
  kFloat,
  kDouble
};

std::string Name(CType type);
int BitsOf(CType type);
bool IsSignedInteger(CType type);
// The unsigned integer type of the same width.
CType UnsignedOf(CType type);
// The type that values are computed in; 16-bit floats are computed as float and rounded.
CType RegisterTypeOf(DataType dtype);
// The element type of a global buffer.
std::string MemoryNameOf(DataType dtype);
// The element type of a work item's own arrays, which hold floats of 16 bits as float.
CType PrivateTypeOf(DataType dtype);

// Operator precedence, from the loosest to the tightest.
enum class Binds {
  kConditional,
  kOr,
  kAnd,
  kBitOr,
  kXor,
  kBitAnd,
  kEquality,
  kComparison,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kPrimary
};

// An expression.
struct CText {
  std::string code;
  CType type = CType::kInt;
  Binds binds = Binds::kPrimary;
  std::optional<int64_t> constant =
      std::nullopt;  // the value of an integer that is written as a number
};

// The code, in parentheses if it binds looser than `least`.
std::string Inside(const CText& text, Binds least);
// The expression converted to `type`: a constant is rewritten, anything else gets a cast if its
// type differs.
CText As(const CText& text, CType type);
CText Call(const std::string& function, const std::vector<CText>& arguments, CType type);
// The right operand is put in parentheses unless it binds tighter than the operator.
CText Infix(const CText& a, const char* op, const CText& b, Binds binds, CType type);

CText IntLiteral(int64_t value, CType type);
// Exact: a short decimal fraction if there is one, otherwise hexadecimal.
CText FloatLiteral(double value, CType type);

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_C_TEXT_H_
