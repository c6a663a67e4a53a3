#include "compiler/loop/scalar.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

namespace hone::loop {
namespace {

// Rounds to `bits` of mantissa with the smallest step 2^min_step; beyond `max` to infinity.
double RoundToPrecision(double value, int bits, int min_step, double max) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int step = std::max(exponent - bits, min_step);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
  if (std::abs(rounded) > max) return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded;
}

uint64_t PowUnsigned(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base) {
    if (exponent & 1) result *= base;
  }
  return result;
}

int64_t PowInt(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  return static_cast<int64_t>(
      PowUnsigned(static_cast<uint64_t>(base), static_cast<uint64_t>(exponent)));
}

int64_t Shift(BinaryOp op, int64_t a, int64_t count, DataType dtype) {
  const bool beyond = count < 0 || count >= 64;
  if (op == BinaryOp::kShiftLeft) {
    return beyond ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << count);
  }
  if (dtype == DataType::kUInt64) {
    return beyond ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) >> count);
  }
  if (beyond) return a < 0 ? -1 : 0;
  return a >> count;
}

// What an operation gives for uint64 where int64 would give something else; nullopt for all others.
std::optional<uint64_t> EvalUnsigned(BinaryOp op, uint64_t a, uint64_t b) {
  switch (op) {
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv:
      return b == 0 ? 0 : a / b;
    case BinaryOp::kMod:
    case BinaryOp::kFloorMod:
      return b == 0 ? 0 : a % b;
    case BinaryOp::kMin:
      return std::min(a, b);
    case BinaryOp::kMax:
      return std::max(a, b);
    case BinaryOp::kPow:
      return PowUnsigned(a, b);
    default:
      return std::nullopt;
  }
}

}  // namespace

double RoundToFloat(double value, DataType dtype) {
  switch (dtype) {
    case DataType::kFloat32:
      return static_cast<double>(static_cast<float>(value));
    case DataType::kFloat16:
      return RoundToPrecision(value, 11, -24, 65504.0);
    case DataType::kBFloat16:
      return RoundToPrecision(value, 8, -133, 0x1.FEp127);
    default:
      return value;
  }
}

int64_t WrapToInt(int64_t value, DataType dtype) {
  switch (dtype) {
    case DataType::kInt8:
      return static_cast<int8_t>(value);
    case DataType::kInt16:
      return static_cast<int16_t>(value);
    case DataType::kInt32:
      return static_cast<int32_t>(value);
    case DataType::kUInt8:
      return static_cast<uint8_t>(value);
    case DataType::kUInt16:
      return static_cast<uint16_t>(value);
    case DataType::kUInt32:
      return static_cast<uint32_t>(value);
    case DataType::kBool:
      return value != 0;
    default:
      return value;
  }
}

namespace {

struct IntRange {
  int64_t low;
  int64_t high;
};

// The range of uint64 ends where that of int64 does.
IntRange RangeOf(DataType dtype) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (dtype == DataType::kBool) return {0, 1};
  if (dtype == DataType::kUInt64) return {0, kMost};
  if (IsUnsigned(dtype)) return {0, kMost >> (63 - 8 * SizeBytes(dtype))};
  const int64_t high = kMost >> (64 - 8 * SizeBytes(dtype));
  return {-high - 1, high};
}

}  // namespace

int64_t FloatToInt(double value, DataType dtype) {
  if (dtype == DataType::kBool) return value != 0;
  if (std::isnan(value)) return 0;
  if (dtype == DataType::kUInt64) {
    if (value >= 0x1p64) return -1;  // the bits of the largest
    return value <= 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  const auto [low, high] = RangeOf(dtype);
  if (value <= static_cast<double>(low)) return low;
  if (value >= static_cast<double>(high)) return high;
  return static_cast<int64_t>(value);
}

int64_t NearestInt(int64_t value, DataType dtype) {
  const auto [low, high] = RangeOf(dtype);
  return std::clamp(value, low, high);
}

namespace {

// The nearest float that is rounded once. `magnitude` is that of an integer.
template <typename Integer>
double NearestFloat(Integer value, uint64_t magnitude, DataType dtype) {
  if (dtype == DataType::kFloat32) return static_cast<double>(static_cast<float>(value));
  constexpr int kLost = 64 - 53;  // bits of an integer, and of a double
  constexpr Integer kLow = (Integer{1} << kLost) - 1;
  constexpr uint64_t kExact = uint64_t{1} << 53;
  if (dtype != DataType::kFloat64 && magnitude > kExact && (value & kLow) != 0) {
    // The last bit that stays is set where bits are lost: rounding once more rounds as if it were
    // the first time.
    value = (value & ~kLow) | (kLow + 1);
  }
  return RoundToFloat(static_cast<double>(value), dtype);
}

}  // namespace

double IntToFloat(int64_t value, DataType from, DataType dtype) {
  const auto bits = static_cast<uint64_t>(value);
  if (from == DataType::kUInt64) return NearestFloat<uint64_t>(bits, bits, dtype);
  return NearestFloat<int64_t>(value, value < 0 ? 0 - bits : bits, dtype);
}

uint16_t EncodeFloat16(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7E00;
  if (std::isinf(value)) return sign | 0x7C00;
  const double magnitude = std::abs(value);
  if (magnitude < 0x1p-14) return sign | static_cast<uint16_t>(magnitude * 0x1p24);
  int exponent = 0;
  const double mantissa = std::frexp(magnitude, &exponent);  // [0.5, 1)
  return sign | static_cast<uint16_t>((exponent + 14) << 10) |
         static_cast<uint16_t>((mantissa * 2 - 1) * 1024);
}

double DecodeFloat16(uint16_t bits) {
  const double sign = (bits & 0x8000) ? -1.0 : 1.0;
  const int exponent = (bits >> 10) & 0x1F;
  const int mantissa = bits & 0x3FF;
  if (exponent == 31) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * mantissa * 0x1p-24;
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

uint16_t EncodeBFloat16(double value) {
  if (std::isnan(value)) return 0x7FC0;
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
}

double DecodeBFloat16(uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16));
}

double EvalFloat(UnaryOp op, double a, DataType dtype) {
  const auto value = [&]() -> double {
    switch (op) {
      case UnaryOp::kNeg:
        return -a;
      case UnaryOp::kNot:
        return a == 0;
      case UnaryOp::kAbs:
        return std::abs(a);
      case UnaryOp::kSqrt:
        return std::sqrt(a);
      case UnaryOp::kRsqrt:
        return 1 / std::sqrt(a);
      case UnaryOp::kExp:
        return std::exp(a);
      case UnaryOp::kExpm1:
        return std::expm1(a);
      case UnaryOp::kLog:
        return std::log(a);
      case UnaryOp::kLog1p:
        return std::log1p(a);
      case UnaryOp::kTanh:
        return std::tanh(a);
      case UnaryOp::kErf:
        return std::erf(a);
      case UnaryOp::kSigmoid:
        return a < 0 ? std::exp(a) / (1 + std::exp(a)) : 1 / (1 + std::exp(-a));
      case UnaryOp::kFloor:
        return std::floor(a);
      case UnaryOp::kCeil:
        return std::ceil(a);
      case UnaryOp::kRound:
        return std::nearbyint(a);
      case UnaryOp::kSin:
        return std::sin(a);
      case UnaryOp::kCos:
        return std::cos(a);
      case UnaryOp::kTan:
        return std::tan(a);
      case UnaryOp::kAsin:
        return std::asin(a);
      case UnaryOp::kAcos:
        return std::acos(a);
      case UnaryOp::kAtan:
        return std::atan(a);
      case UnaryOp::kSinh:
        return std::sinh(a);
      case UnaryOp::kCosh:
        return std::cosh(a);
      case UnaryOp::kAsinh:
        return std::asinh(a);
      case UnaryOp::kAcosh:
        return std::acosh(a);
      case UnaryOp::kAtanh:
        return std::atanh(a);
      case UnaryOp::kIsNan:
        return std::isnan(a);
      case UnaryOp::kIsInf:
        return std::isinf(a);
      case UnaryOp::kSign:
        return std::isnan(a) ? a : (a > 0) - (a < 0);
    }
    return a;
  }();
  return RoundToFloat(value, dtype);
}

int64_t EvalInt(UnaryOp op, int64_t a, DataType dtype) {
  const bool is_negative = a < 0 && dtype != DataType::kUInt64;
  switch (op) {
    case UnaryOp::kNeg:
      return WrapToInt(static_cast<int64_t>(0 - static_cast<uint64_t>(a)), dtype);
    case UnaryOp::kNot:
      return dtype == DataType::kBool ? a == 0 : WrapToInt(~a, dtype);
    case UnaryOp::kAbs:
      return is_negative ? EvalInt(UnaryOp::kNeg, a, dtype) : a;
    case UnaryOp::kSign:
      return is_negative ? -1 : a != 0;
    case UnaryOp::kIsNan:
    case UnaryOp::kIsInf:
      return 0;
    default:
      return a;  // kFloor, kCeil, kRound; the rest is not defined on integers
  }
}

double EvalFloat(BinaryOp op, double a, double b, DataType dtype) {
  const auto value = [&]() -> double {
    switch (op) {
      case BinaryOp::kAdd:
        return a + b;
      case BinaryOp::kSub:
        return a - b;
      case BinaryOp::kMul:
        return a * b;
      case BinaryOp::kDiv:
        return a / b;
      case BinaryOp::kFloorDiv:
        return std::floor(RoundToFloat(a / b, dtype));
      case BinaryOp::kFloorMod: {
        const double r = std::fmod(a, b);
        return r != 0 && (r < 0) != (b < 0) ? r + b : r;
      }
      case BinaryOp::kMin:
        return std::isnan(a) ? a : (b < a || std::isnan(b)) ? b : a;
      case BinaryOp::kMax:
        return std::isnan(a) ? a : (b > a || std::isnan(b)) ? b : a;
      case BinaryOp::kPow:
        return std::pow(a, b);
      case BinaryOp::kMod:
        return std::fmod(a, b);
      default:
        return CompareFloat(op, a, b);
    }
  }();
  return RoundToFloat(value, dtype);
}

int64_t EvalInt(BinaryOp op, int64_t a, int64_t b, DataType dtype) {
  const uint64_t ua = static_cast<uint64_t>(a);
  const uint64_t ub = static_cast<uint64_t>(b);
  const auto wrap = [&](uint64_t value) { return WrapToInt(static_cast<int64_t>(value), dtype); };
  if (dtype == DataType::kUInt64) {
    if (const auto value = EvalUnsigned(op, ua, ub)) return static_cast<int64_t>(*value);
  }
  switch (op) {
    case BinaryOp::kAdd:
      return wrap(ua + ub);
    case BinaryOp::kSub:
      return wrap(ua - ub);
    case BinaryOp::kMul:
      return wrap(ua * ub);
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kFloorMod:
    case BinaryOp::kMod: {
      if (b == 0) return 0;
      if (b == -1) {  // the one quotient that overflows
        const bool quotient = op == BinaryOp::kDiv || op == BinaryOp::kFloorDiv;
        return quotient ? wrap(0 - ua) : 0;
      }
      if (op == BinaryOp::kDiv) return a / b;
      if (op == BinaryOp::kMod) return a % b;
      return op == BinaryOp::kFloorDiv ? FloorDivInt(a, b) : FloorModInt(a, b);
    }
    case BinaryOp::kMin:
      return std::min(a, b);
    case BinaryOp::kMax:
      return std::max(a, b);
    case BinaryOp::kPow:
      return WrapToInt(PowInt(a, b), dtype);
    case BinaryOp::kXor:
      return wrap(ua ^ ub);
    case BinaryOp::kBitAnd:
      return wrap(ua & ub);
    case BinaryOp::kBitOr:
      return wrap(ua | ub);
    case BinaryOp::kShiftLeft:
    case BinaryOp::kShiftRight:
      return WrapToInt(Shift(op, a, b, dtype), dtype);
    default:
      return CompareInt(op, a, b, dtype);
  }
}

namespace {

template <typename T>
bool Compare(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::kEq:
      return a == b;
    case BinaryOp::kNe:
      return a != b;
    case BinaryOp::kLt:
      return a < b;
    case BinaryOp::kLe:
      return a <= b;
    case BinaryOp::kGt:
      return a > b;
    case BinaryOp::kGe:
      return a >= b;
    case BinaryOp::kAnd:
      return a != 0 && b != 0;
    case BinaryOp::kOr:
      return a != 0 || b != 0;
    default:
      return false;
  }
}

}  // namespace

bool CompareFloat(BinaryOp op, double a, double b) { return Compare(op, a, b); }
bool CompareInt(BinaryOp op, int64_t a, int64_t b, DataType dtype) {
  if (dtype != DataType::kUInt64) return Compare(op, a, b);
  return Compare(op, static_cast<uint64_t>(a), static_cast<uint64_t>(b));
}

bool IsComparison(BinaryOp op) { return op >= BinaryOp::kEq && op <= BinaryOp::kGe; }
bool GivesBool(BinaryOp op) { return op >= BinaryOp::kEq && op <= BinaryOp::kOr; }
bool GivesBool(UnaryOp op) { return op == UnaryOp::kIsNan || op == UnaryOp::kIsInf; }

int64_t FloorDivInt(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

int64_t FloorModInt(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return (r != 0 && (r < 0) != (b < 0)) ? r + b : r;
}

}  // namespace hone::loop
