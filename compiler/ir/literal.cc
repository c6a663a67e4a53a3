#include "compiler/ir/literal.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace hone::ir {
namespace {

struct Suffix {
  DataType dtype;
  std::string_view text;
};
constexpr std::array<Suffix, 12> kSuffixes = {{{DataType::kFloat32, "f32"},
                                               {DataType::kFloat64, "f64"},
                                               {DataType::kFloat16, "f16"},
                                               {DataType::kBFloat16, "bf16"},
                                               {DataType::kInt8, "i8"},
                                               {DataType::kInt16, "i16"},
                                               {DataType::kInt32, "i32"},
                                               {DataType::kInt64, "i64"},
                                               {DataType::kUInt8, "u8"},
                                               {DataType::kUInt16, "u16"},
                                               {DataType::kUInt32, "u32"},
                                               {DataType::kUInt64, "u64"}}};

std::string_view SuffixOf(DataType dtype) {
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.dtype == dtype) return suffix.text;
  }
  return "";
}

// little-endian, as the bytes of constants are.
uint64_t Bits(const ExprNode& constant) {
  uint64_t bits = 0;
  std::memcpy(&bits, constant.data.bytes(), constant.data.size_bytes());
  return bits;
}

Expr FromBits(DataType dtype, uint64_t bits) {
  return ConstantFromBytes(TensorType{{}, dtype}, &bits);
}

template <typename T>
bool ParseAll(std::string_view digits, T* value) {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *value);
  return error == std::errc() && end == digits.data() + digits.size();
}

bool FitsInteger(DataType dtype, int64_t value) {
  switch (dtype) {
    case DataType::kInt8:
      return value == static_cast<int8_t>(value);
    case DataType::kInt16:
      return value == static_cast<int16_t>(value);
    case DataType::kInt32:
      return value == static_cast<int32_t>(value);
    case DataType::kUInt8:
      return value == static_cast<uint8_t>(value);
    case DataType::kUInt16:
      return value == static_cast<uint16_t>(value);
    case DataType::kUInt32:
      return value == static_cast<uint32_t>(value);
    default:
      return true;
  }
}

std::optional<uint64_t> FloatBits(DataType dtype, std::string_view digits) {
  if (dtype == DataType::kFloat64) {
    double value = 0;
    if (!ParseAll(digits, &value)) return std::nullopt;
    return std::bit_cast<uint64_t>(value);
  }
  float value = 0;
  if (!ParseAll(digits, &value)) return std::nullopt;
  if (dtype == DataType::kFloat16) return FloatToHalf(value);
  if (dtype == DataType::kBFloat16) return FloatToBFloat16(value);
  return std::bit_cast<uint32_t>(value);
}

}  // namespace

float HalfToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float value = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -value : value;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return sign | 0x7e00u | static_cast<uint16_t>((rest >> 13) & 0x3ffu);
  if (rest >= 0x477ff000u) return sign | 0x7c00u;  // rounds to infinity
  if (rest < 0x38800000u) {                        // subnormal or zero
    const float scaled = std::nearbyint(std::ldexp(std::bit_cast<float>(rest), 24));
    return sign | static_cast<uint16_t>(scaled);
  }
  const uint32_t rounded = rest + 0xfffu + ((rest >> 13) & 1u);
  return sign | static_cast<uint16_t>((rounded - (112u << 23)) >> 13);
}

float BFloat16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t FloatToBFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

double ScalarValue(const ExprNode& constant) {
  const uint64_t bits = Bits(constant);
  switch (constant.type->tensor.dtype) {
    case DataType::kFloat32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case DataType::kFloat64:
      return std::bit_cast<double>(bits);
    case DataType::kFloat16:
      return HalfToFloat(static_cast<uint16_t>(bits));
    case DataType::kBFloat16:
      return BFloat16ToFloat(static_cast<uint16_t>(bits));
    case DataType::kInt8:
      return static_cast<int8_t>(bits);
    case DataType::kInt16:
      return static_cast<int16_t>(bits);
    case DataType::kInt32:
      return static_cast<int32_t>(bits);
    case DataType::kInt64:
      return static_cast<double>(static_cast<int64_t>(bits));
    case DataType::kUInt8:
    case DataType::kUInt16:
    case DataType::kUInt32:
    case DataType::kUInt64:
    case DataType::kBool:
      return static_cast<double>(bits);
  }
  return 0;
}

std::string LiteralText(const ExprNode& constant) {
  const DataType dtype = constant.type->tensor.dtype;
  const uint64_t bits = Bits(constant);
  if (dtype == DataType::kBool && bits <= 1) return bits == 1 ? "true" : "false";
  const double value = ScalarValue(constant);
  if (dtype == DataType::kBool || !std::isfinite(value)) {
    return fmt::format("{}(0x{:x})", Name(dtype), bits);
  }
  if (dtype == DataType::kInt64) return fmt::format("{}i64", static_cast<int64_t>(bits));
  if (dtype == DataType::kUInt64) return fmt::format("{}u64", bits);
  if (IsInteger(dtype)) return fmt::format("{}{}", static_cast<int64_t>(value), SuffixOf(dtype));
  if (dtype == DataType::kFloat64) return fmt::format("{}f64", value);
  return fmt::format("{}{}", static_cast<float>(value), SuffixOf(dtype));
}

Expr LiteralFromDecimal(std::string_view digits, std::string_view suffix) {
  for (const Suffix& known : kSuffixes) {
    if (known.text != suffix) continue;
    if (IsFloat(known.dtype)) {
      const std::optional<uint64_t> bits = FloatBits(known.dtype, digits);
      return bits ? FromBits(known.dtype, *bits) : nullptr;
    }
    if (known.dtype == DataType::kUInt64) {
      uint64_t value = 0;
      return ParseAll(digits, &value) ? FromBits(known.dtype, value) : nullptr;
    }
    int64_t value = 0;
    if (!ParseAll(digits, &value) || !FitsInteger(known.dtype, value)) return nullptr;
    return FromBits(known.dtype, static_cast<uint64_t>(value));
  }
  return nullptr;
}

Expr LiteralFromBits(DataType dtype, uint64_t bits) {
  const int width = SizeBytes(dtype) * 8;
  if (width < 64 && (bits >> width) != 0) return nullptr;
  return FromBits(dtype, bits);
}

Expr BoolLiteral(bool value) { return FromBits(DataType::kBool, value ? 1 : 0); }

std::string DoubleText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace hone::ir
