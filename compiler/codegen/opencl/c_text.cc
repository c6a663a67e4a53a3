#include "compiler/codegen/opencl/c_text.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"

namespace hone::codegen::opencl {
namespace {

// Small integers are written plainly, and are ints then.
bool IsNarrow(CType type) { return type >= CType::kChar && type <= CType::kUshort; }

std::string IntDigits(int64_t value, CType type) {
  switch (type) {
    case CType::kUint:
      return fmt::format("{}u", static_cast<uint32_t>(value));
    case CType::kUlong:
      return fmt::format("{}UL", static_cast<uint64_t>(value));
    case CType::kLong:
      return value == std::numeric_limits<int64_t>::min() ? "LONG_MIN" : fmt::format("{}L", value);
    default:
      return value == std::numeric_limits<int32_t>::min() ? "INT_MIN" : fmt::format("{}", value);
  }
}

// Whole numbers and fractions of a few digits read best in decimal.
bool IsShortFraction(double magnitude) {
  constexpr double kParts = 1024;
  constexpr double kMost = 1 << 20;
  return magnitude < kMost && std::trunc(magnitude * kParts) == magnitude * kParts;
}

std::string FiniteDigits(double magnitude) {
  if (!IsShortFraction(magnitude)) return fmt::format("{:a}", magnitude);
  const std::string digits = fmt::format("{}", magnitude);
  return digits.find('.') == std::string::npos ? digits + ".0" : digits;
}

}  // namespace

std::string Name(CType type) {
  switch (type) {
    case CType::kBool:
      return "bool";
    case CType::kChar:
      return "char";
    case CType::kUchar:
      return "uchar";
    case CType::kShort:
      return "short";
    case CType::kUshort:
      return "ushort";
    case CType::kInt:
      return "int";
    case CType::kUint:
      return "uint";
    case CType::kLong:
      return "long";
    case CType::kUlong:
      return "ulong";
    case CType::kFloat:
      return "float";
    case CType::kDouble:
      return "double";
  }
  return "";
}

int BitsOf(CType type) {
  switch (type) {
    case CType::kBool:
    case CType::kChar:
    case CType::kUchar:
      return 8;
    case CType::kShort:
    case CType::kUshort:
      return 16;
    case CType::kInt:
    case CType::kUint:
    case CType::kFloat:
      return 32;
    default:
      return 64;
  }
}

bool IsSignedInteger(CType type) {
  return type == CType::kChar || type == CType::kShort || type == CType::kInt ||
         type == CType::kLong;
}

CType UnsignedOf(CType type) {
  switch (type) {
    case CType::kChar:
      return CType::kUchar;
    case CType::kShort:
      return CType::kUshort;
    case CType::kInt:
      return CType::kUint;
    case CType::kLong:
      return CType::kUlong;
    default:
      return type;
  }
}

CType RegisterTypeOf(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat32:
    case DataType::kFloat16:
    case DataType::kBFloat16:
      return CType::kFloat;
    case DataType::kFloat64:
      return CType::kDouble;
    case DataType::kInt8:
      return CType::kChar;
    case DataType::kInt16:
      return CType::kShort;
    case DataType::kInt32:
      return CType::kInt;
    case DataType::kInt64:
      return CType::kLong;
    case DataType::kUInt8:
      return CType::kUchar;
    case DataType::kUInt16:
      return CType::kUshort;
    case DataType::kUInt32:
      return CType::kUint;
    case DataType::kUInt64:
      return CType::kUlong;
    case DataType::kBool:
      return CType::kBool;
  }
  return CType::kInt;
}

std::string MemoryNameOf(DataType dtype) {
  if (dtype == DataType::kFloat16) return "half";
  if (dtype == DataType::kBFloat16) return "ushort";
  return Name(PrivateTypeOf(dtype));
}

CType PrivateTypeOf(DataType dtype) {
  return dtype == DataType::kBool ? CType::kUchar : RegisterTypeOf(dtype);
}

std::string Inside(const CText& text, Binds least) {
  return text.binds < least ? absl::StrCat("(", text.code, ")") : text.code;
}

CText As(const CText& text, CType type) {
  if (text.type == type) return text;
  if (text.constant && !IsNarrow(type)) return IntLiteral(*text.constant, type);
  CText cast{.code = fmt::format("({}){}", Name(type), Inside(text, Binds::kUnary)),
             .type = type,
             .binds = Binds::kUnary};
  cast.constant = text.constant;
  return cast;
}

CText Call(const std::string& function, const std::vector<CText>& arguments, CType type) {
  std::string code = absl::StrCat(function, "(");
  for (size_t i = 0; i < arguments.size(); ++i) {
    absl::StrAppend(&code, i > 0 ? ", " : "", arguments[i].code);
  }
  return {.code = code + ")", .type = type};
}

CText Infix(const CText& a, const char* op, const CText& b, Binds binds, CType type) {
  const auto tighter = static_cast<Binds>(static_cast<int>(binds) + 1);
  return {.code = absl::StrCat(Inside(a, binds), " ", op, " ", Inside(b, tighter)),
          .type = type,
          .binds = binds};
}

CText IntLiteral(int64_t value, CType type) {
  if (type == CType::kBool) {
    return {.code = value != 0 ? "true" : "false", .type = type, .constant = value};
  }
  const bool is_negative = value < 0 && type != CType::kUint && type != CType::kUlong;
  return {.code = IntDigits(value, type),
          .type = IsNarrow(type) ? CType::kInt : type,
          .binds = is_negative ? Binds::kUnary : Binds::kPrimary,
          .constant = value};
}

CText FloatLiteral(double value, CType type) {
  const bool is_float = type == CType::kFloat;
  const bool is_negative = std::signbit(value) && !std::isnan(value);
  const double magnitude = std::abs(value);
  std::string digits;
  if (std::isfinite(value)) {
    digits = FiniteDigits(magnitude) + (is_float ? "f" : "");
  } else {
    digits = absl::StrCat(is_float ? "" : "(double)", std::isnan(value) ? "NAN" : "INFINITY");
  }
  const bool is_primary = !is_negative && (is_float || std::isfinite(value));
  return {.code = absl::StrCat(is_negative ? "-" : "", digits),
          .type = type,
          .binds = is_primary ? Binds::kPrimary : Binds::kUnary};
}

}  // namespace hone::codegen::opencl
