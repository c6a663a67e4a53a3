// Pieces of OpenCL C: its scalar types, constants, and expressions that know their type and how
// tightly they bind. Pure functions.
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
// The type of the same width without a sign, of integers.
CType UnsignedOf(CType type);
// What computes with values of the type: floats of 16 bits are held as float, rounded.
CType RegisterTypeOf(DataType dtype);
// The element type of memory that kernels share.
std::string MemoryNameOf(DataType dtype);
// The element type of a work item's own arrays, which hold floats of 16 bits as float.
CType PrivateTypeOf(DataType dtype);

// From loose to tight.
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

// An expression. A value type.
struct CText {
  std::string code;
  CType type = CType::kInt;
  Binds binds = Binds::kPrimary;
  std::optional<int64_t> constant =
      std::nullopt;  // of integers: the value, where it is written as a number
};

// In parentheses where it binds looser than `least`.
std::string Inside(const CText& text, Binds least);
// The text in that type: a constant as such, else with a cast where it has another type.
CText As(const CText& text, CType type);
CText Call(const std::string& function, const std::vector<CText>& arguments, CType type);
// The operator's right operand binds tighter than it does.
CText Infix(const CText& a, const char* op, const CText& b, Binds binds, CType type);

CText IntLiteral(int64_t value, CType type);
// Exact: short decimal fractions, else hexadecimal ones.
CText FloatLiteral(double value, CType type);

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_C_TEXT_H_
