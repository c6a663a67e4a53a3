#include "compiler/codegen/opencl/int_arithmetic.h"

#include <bit>
#include <limits>

#include "absl/strings/str_cat.h"

namespace hone::codegen::opencl {
namespace {

using loop::BinaryOp;
using loop::Interval;
using loop::UnaryOp;

bool IsSmall(DataType dtype) { return SizeBytes(dtype) < 4; }
bool IsWide(const CText& text) { return text.type == CType::kLong || text.type == CType::kUlong; }

bool IsBounded(const Interval& range) { return range.HasMin() && range.HasMax(); }

bool FitsType(const Interval& range, DataType dtype) {
  const Interval type = Interval::OfType(dtype);
  return range.Within(type.min, type.max);
}

// Computes in a type of at least 32 bits: C's conversions do it where one operand has the type, or
// both are narrower than an int.
CText Combine(const CText& a, const char* op, const CText& b, Binds binds, CType type) {
  const auto fitting = [type](const CText& text) {
    return type == CType::kInt && text.type > CType::kInt ? As(text, type) : text;
  };
  CText x = fitting(a);
  const CText y = fitting(b);
  if (type != CType::kInt && x.type != type && y.type != type) x = As(x, type);
  return Infix(x, op, y, binds, type);
}

// The type that division, shifts and bits of the data type are computed in.
CType WorkTypeOf(DataType dtype) { return IsSmall(dtype) ? CType::kInt : RegisterTypeOf(dtype); }
CType WorkTypeOf(DataType dtype, const CText& a, const CText& b) {
  if (dtype != DataType::kInt64) return WorkTypeOf(dtype);
  return IsWide(a) || IsWide(b) ? CType::kLong : CType::kInt;
}

// The value in its small type of what was computed in 32 bits.
CText Wrapped(const CText& text, DataType dtype, bool fits) {
  if (dtype == DataType::kInt64) return text;
  if (IsSmall(dtype) && fits && text.type == CType::kInt) return text;
  return As(text, RegisterTypeOf(dtype));
}

const char* SignOf(BinaryOp op) {
  return op == BinaryOp::kAdd ? "+" : op == BinaryOp::kSub ? "-" : "*";
}

Interval ExactRange(BinaryOp op, const Interval& x, const Interval& y) {
  return op == BinaryOp::kAdd ? x + y : op == BinaryOp::kSub ? x - y : x * y;
}

// Sums, differences and products.
CText Sum(BinaryOp op, const IntOperand& x, const IntOperand& y, DataType dtype,
          const Interval& result, bool may_wrap) {
  const Binds binds = op == BinaryOp::kMul ? Binds::kProduct : Binds::kSum;
  const auto in = [&](CType type) { return Combine(x.text, SignOf(op), y.text, binds, type); };
  const Interval exact = ExactRange(op, x.range, y.range);
  switch (dtype) {
    case DataType::kInt64:
      if (FitsInt(result) && !IsWide(x.text) && !IsWide(y.text)) return in(CType::kInt);
      if (may_wrap && !IsBounded(exact)) return As(in(CType::kUlong), CType::kLong);
      return in(CType::kLong);
    case DataType::kInt32:
      return FitsInt(exact) ? in(CType::kInt) : As(in(CType::kUint), CType::kInt);
    case DataType::kUInt32:
    case DataType::kUInt64:
      return in(RegisterTypeOf(dtype));
    case DataType::kUInt16:  // products of 16 bits do not fit in an int
      if (op == BinaryOp::kMul && !FitsInt(exact)) {
        return As(in(CType::kUint), CType::kUshort);
      }
      [[fallthrough]];
    default:
      return Wrapped(in(CType::kInt), dtype, FitsType(exact, dtype));
  }
}

// Neither zero nor, of signed types, -1.
bool IsPlainDivisor(const IntOperand& y) {
  if (y.text.constant) return *y.text.constant != 0 && *y.text.constant != -1;
  return y.range.min >= 1;
}

// A power of two that is greater than 1: how many.
std::optional<int> ShiftOf(const IntOperand& y) {
  if (!y.text.constant || *y.text.constant < 2) return std::nullopt;
  const auto value = static_cast<uint64_t>(*y.text.constant);
  return std::has_single_bit(value) ? std::optional(std::countr_zero(value)) : std::nullopt;
}

Helper HelperOf(BinaryOp op) {
  switch (op) {
    case BinaryOp::kDiv:
      return Helper::kDivide;
    case BinaryOp::kMod:
      return Helper::kModulo;
    case BinaryOp::kFloorDiv:
      return Helper::kFloorDivide;
    default:
      return Helper::kFloorModulo;
  }
}

CText Divide(Helpers& helpers, BinaryOp op, const IntOperand& x, const IntOperand& y,
             DataType dtype, const Interval& result) {
  CType type = WorkTypeOf(dtype, x.text, y.text);
  // The lowest int by -1 is a number of 64 bits.
  const bool overflows = !IsPlainDivisor(y) && x.range.min <= std::numeric_limits<int32_t>::min();
  if (dtype == DataType::kInt64 && overflows) type = CType::kLong;
  const bool is_quotient = op == BinaryOp::kDiv || op == BinaryOp::kFloorDiv;
  const bool floors = op == BinaryOp::kFloorDiv || op == BinaryOp::kFloorMod;
  const bool natural = IsUnsigned(dtype) || (x.range.min >= 0 && y.range.min >= 0);
  CText value;
  if (IsPlainDivisor(y) && (natural || !floors)) {
    value = Combine(x.text, is_quotient ? "/" : "%", y.text, Binds::kProduct, type);
  } else if (const std::optional<int> shift = ShiftOf(y); shift && floors) {
    value =
        is_quotient
            ? Combine(As(x.text, type), ">>", IntLiteral(*shift, CType::kInt), Binds::kShift, type)
            : Combine(x.text, "&", IntLiteral(*y.text.constant - 1, type), Binds::kBitAnd, type);
  } else {
    value = helpers.Call(HelperOf(op), {As(x.text, type), As(y.text, type)}, type);
  }
  if (dtype == DataType::kInt64) return Narrowed(value, result);
  // One quotient of a small signed type does not fit, that of the lowest by -1.
  return Wrapped(value, dtype, IsPlainDivisor(y));
}

CText Extreme(BinaryOp op, const IntOperand& x, const IntOperand& y, DataType dtype,
              const Interval& result) {
  CType type = RegisterTypeOf(dtype);
  if (dtype == DataType::kInt64) type = WorkTypeOf(dtype, x.text, y.text);
  const CText value =
      Call(op == BinaryOp::kMin ? "min" : "max", {As(x.text, type), As(y.text, type)}, type);
  return dtype == DataType::kInt64 ? Narrowed(value, result) : value;
}

CText Shift(Helpers& helpers, BinaryOp op, const IntOperand& x, const IntOperand& y,
            DataType dtype) {
  const bool is_left = op == BinaryOp::kShiftLeft;
  const CType type =
      is_left && dtype == DataType::kInt64 ? CType::kLong : WorkTypeOf(dtype, x.text, y.text);
  const bool is_plain = y.text.constant && *y.text.constant >= 0 && *y.text.constant < BitsOf(type);
  if (!is_plain) {
    const Helper helper = is_left ? Helper::kShiftLeft : Helper::kShiftRight;
    return Wrapped(helpers.Call(helper, {As(x.text, type), As(y.text, type)}, type), dtype,
                   /*fits=*/!is_left);
  }
  const CText count = IntLiteral(*y.text.constant, CType::kInt);
  if (!is_left) {
    return Wrapped(Infix(As(x.text, type), ">>", count, Binds::kShift, type), dtype, true);
  }
  const CType bits = UnsignedOf(type);
  const CText shifted = Infix(As(x.text, bits), "<<", count, Binds::kShift, bits);
  return IsSmall(dtype) ? As(shifted, RegisterTypeOf(dtype)) : As(shifted, type);
}

CText Bits(BinaryOp op, const IntOperand& x, const IntOperand& y, DataType dtype) {
  const CType type = WorkTypeOf(dtype, x.text, y.text);
  switch (op) {
    case BinaryOp::kXor:
      return Combine(x.text, "^", y.text, Binds::kXor, type);
    case BinaryOp::kBitAnd:
      return Combine(x.text, "&", y.text, Binds::kBitAnd, type);
    default:
      return Combine(x.text, "|", y.text, Binds::kBitOr, type);
  }
}

CText Compare(BinaryOp op, const CText& x, const CText& y, DataType dtype) {
  static constexpr const char* kSigns[] = {"==", "!=", "<", "<=", ">", ">="};
  const char* const sign = kSigns[static_cast<int>(op) - static_cast<int>(BinaryOp::kEq)];
  const bool is_equality = op == BinaryOp::kEq || op == BinaryOp::kNe;
  const CType type = WorkTypeOf(dtype, x, y);
  CText text = Combine(x, sign, y, is_equality ? Binds::kEquality : Binds::kComparison, type);
  text.type = CType::kBool;
  return text;
}

CText Not(const CText& truth) {
  return {.code = absl::StrCat("!", Inside(truth, Binds::kUnary)),
          .type = CType::kBool,
          .binds = Binds::kUnary};
}
CText Both(const CText& x, const CText& y) {
  return Infix(Truth(x), "&&", Truth(y), Binds::kAnd, CType::kBool);
}
CText Either(const CText& x, const CText& y) {
  return Infix(Truth(x), "||", Truth(y), Binds::kOr, CType::kBool);
}

// What integer arithmetic on 0 and 1 comes to.
CText BoolBinary(BinaryOp op, const CText& x, const CText& y) {
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kMax:
    case BinaryOp::kOr:
    case BinaryOp::kBitOr:
      return Either(x, y);
    case BinaryOp::kSub:
    case BinaryOp::kXor:
      return Compare(BinaryOp::kNe, x, y, DataType::kBool);
    case BinaryOp::kMul:
    case BinaryOp::kMin:
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kAnd:
    case BinaryOp::kBitAnd:
      return Both(x, y);
    case BinaryOp::kMod:
    case BinaryOp::kFloorMod:
      return IntLiteral(0, CType::kBool);
    case BinaryOp::kPow:
      return Either(x, Not(y));
    case BinaryOp::kShiftLeft:
      return x;
    case BinaryOp::kShiftRight:
      return Both(x, Not(y));
    default:
      return Compare(op, x, y, DataType::kBool);
  }
}

CText Prefixed(const char* sign, const CText& x, CType type) {
  // Two signs in a row would be another operator.
  const bool is_signed = !x.code.empty() && x.code[0] == sign[0];
  return {.code = absl::StrCat(
              sign, is_signed ? absl::StrCat("(", x.code, ")") : Inside(x, Binds::kUnary)),
          .type = type,
          .binds = Binds::kUnary};
}

CText Negative(const IntOperand& x, DataType dtype, const Interval& result, bool may_wrap) {
  const Interval exact = x.range * -1;
  switch (dtype) {
    case DataType::kInt64:
      if (!IsWide(x.text)) {
        return FitsInt(result) ? Prefixed("-", x.text, CType::kInt)
                               : Prefixed("-", As(x.text, CType::kLong), CType::kLong);
      }
      if (!may_wrap || IsBounded(exact)) return Prefixed("-", x.text, CType::kLong);
      return As(Prefixed("-", As(x.text, CType::kUlong), CType::kUlong), CType::kLong);
    case DataType::kInt32:
      if (FitsInt(exact)) return Prefixed("-", x.text, CType::kInt);
      return As(Prefixed("-", As(x.text, CType::kUint), CType::kUint), CType::kInt);
    case DataType::kUInt32:
    case DataType::kUInt64:
      return Prefixed("-", x.text, x.text.type);
    default:
      return Wrapped(Prefixed("-", x.text, CType::kInt), dtype, FitsType(exact, dtype));
  }
}

// The function gives a number without a sign, which wraps around as the interpreter's does.
CText Magnitude(const IntOperand& x, DataType dtype) {
  if (IsUnsigned(dtype) || x.range.min >= 0) return x.text;
  CType type = RegisterTypeOf(dtype);
  const bool is_narrow = !IsWide(x.text) && x.range.min > std::numeric_limits<int32_t>::min();
  if (dtype == DataType::kInt64 && is_narrow) type = CType::kInt;
  return As(Call("abs", {As(x.text, type)}, UnsignedOf(type)), type);
}

CText Sign(const IntOperand& x, DataType dtype) {
  const CType type = WorkTypeOf(dtype, x.text, x.text);
  const CText one = IntLiteral(1, type);
  const CText value = As(x.text, type);
  if (IsUnsigned(dtype)) return Wrapped(Call("min", {value, one}, type), dtype, false);
  const CText sign = Call("clamp", {value, IntLiteral(-1, type), one}, type);
  return dtype == DataType::kInt64 ? As(sign, CType::kInt) : Wrapped(sign, dtype, true);
}

}  // namespace

bool FitsInt(const Interval& range) {
  return range.Within(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
}

CText Narrowed(const CText& text, const Interval& range) {
  return IsWide(text) && FitsInt(range) ? As(text, CType::kInt) : text;
}

CText Truth(const CText& text) {
  if (text.type == CType::kBool) return text;
  const CText zero =
      text.type >= CType::kFloat ? FloatLiteral(0, text.type) : IntLiteral(0, CType::kInt);
  return Infix(text, "!=", zero, Binds::kEquality, CType::kBool);
}

CType CommonType(const CText& a, const CText& b, DataType dtype) {
  if (a.type == b.type) return a.type;
  if (dtype == DataType::kInt64) return WorkTypeOf(dtype, a, b);
  return IsSmall(dtype) && IsInteger(dtype) ? CType::kInt : RegisterTypeOf(dtype);
}

CText IntUnary(Helpers&, UnaryOp op, const IntOperand& x, DataType dtype, const Interval& result,
               bool may_wrap) {
  const bool is_bool = dtype == DataType::kBool;
  switch (op) {
    case UnaryOp::kNeg:
      return is_bool ? x.text : Negative(x, dtype, result, may_wrap);
    case UnaryOp::kNot: {
      if (is_bool) return Not(x.text);
      const CType type = IsSmall(dtype) ? CType::kInt : x.text.type;
      const bool fits = !IsUnsigned(dtype);
      return Wrapped(Prefixed("~", x.text, type < CType::kInt ? CType::kInt : type), dtype, fits);
    }
    case UnaryOp::kAbs:
      return is_bool ? x.text : Magnitude(x, dtype);
    case UnaryOp::kSign:
      return is_bool ? x.text : Sign(x, dtype);
    case UnaryOp::kIsNan:
    case UnaryOp::kIsInf:
      return IntLiteral(0, CType::kBool);
    default:
      return x.text;  // floor, ceil and round; the rest is not defined on integers
  }
}

CText IntBinary(Helpers& helpers, BinaryOp op, const IntOperand& x, const IntOperand& y,
                DataType dtype, const Interval& result, bool may_wrap) {
  if (dtype == DataType::kBool) return BoolBinary(op, x.text, y.text);
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kMul:
      return Sum(op, x, y, dtype, result, may_wrap);
    case BinaryOp::kDiv:
    case BinaryOp::kMod:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kFloorMod:
      return Divide(helpers, op, x, y, dtype, result);
    case BinaryOp::kMin:
    case BinaryOp::kMax:
      return Extreme(op, x, y, dtype, result);
    case BinaryOp::kPow: {
      const CType type = dtype == DataType::kInt64 ? CType::kLong : WorkTypeOf(dtype);
      return Wrapped(helpers.Call(Helper::kPower, {As(x.text, type), As(y.text, type)}, type),
                     dtype, /*fits=*/false);
    }
    case BinaryOp::kXor:
    case BinaryOp::kBitAnd:
    case BinaryOp::kBitOr:
      return Bits(op, x, y, dtype);
    case BinaryOp::kShiftLeft:
    case BinaryOp::kShiftRight:
      return Shift(helpers, op, x, y, dtype);
    case BinaryOp::kAnd:
      return Both(x.text, y.text);
    case BinaryOp::kOr:
      return Either(x.text, y.text);
    default:
      return Compare(op, x.text, y.text, dtype);
  }
}

}  // namespace hone::codegen::opencl
