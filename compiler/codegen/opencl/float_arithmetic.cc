#include "compiler/codegen/opencl/float_arithmetic.h"

#include "absl/strings/str_cat.h"
#include "compiler/codegen/opencl/int_arithmetic.h"
#include "compiler/loop/scalar.h"

namespace hone::codegen::opencl {
namespace {

using loop::BinaryOp;
using loop::UnaryOp;

// OpenCL's function of the operator. Its errors, in units in the last place: tan and tanh 5, erf
// 16, the others at most 4.
const char* FunctionOf(UnaryOp op) {
  switch (op) {
    case UnaryOp::kAbs:
      return "fabs";
    case UnaryOp::kSqrt:
      return "sqrt";
    case UnaryOp::kRsqrt:
      return "rsqrt";
    case UnaryOp::kExp:
      return "exp";
    case UnaryOp::kExpm1:
      return "expm1";
    case UnaryOp::kLog:
      return "log";
    case UnaryOp::kLog1p:
      return "log1p";
    case UnaryOp::kTanh:
      return "tanh";
    case UnaryOp::kErf:
      return "erf";
    case UnaryOp::kFloor:
      return "floor";
    case UnaryOp::kCeil:
      return "ceil";
    case UnaryOp::kRound:
      return "rint";
    case UnaryOp::kSin:
      return "sin";
    case UnaryOp::kCos:
      return "cos";
    case UnaryOp::kTan:
      return "tan";
    case UnaryOp::kAsin:
      return "asin";
    case UnaryOp::kAcos:
      return "acos";
    case UnaryOp::kAtan:
      return "atan";
    case UnaryOp::kSinh:
      return "sinh";
    case UnaryOp::kCosh:
      return "cosh";
    case UnaryOp::kAsinh:
      return "asinh";
    case UnaryOp::kAcosh:
      return "acosh";
    case UnaryOp::kAtanh:
      return "atanh";
    default:
      return nullptr;
  }
}

bool IsExact(UnaryOp op) { return op == UnaryOp::kNeg || op == UnaryOp::kAbs; }

CText Negative(const CText& x) {
  const bool is_signed = !x.code.empty() && x.code[0] == '-';
  return {.code = absl::StrCat(
              "-", is_signed ? absl::StrCat("(", x.code, ")") : Inside(x, Binds::kUnary)),
          .type = x.type,
          .binds = Binds::kUnary};
}

CText AsTruth(CText text) {
  text.type = CType::kInt;
  return As(text, CType::kBool);
}

CText UnaryValue(Helpers& helpers, UnaryOp op, const CText& x) {
  switch (op) {
    case UnaryOp::kNeg:
      return Negative(x);
    case UnaryOp::kNot: {
      const CText zero = FloatLiteral(0, x.type);
      return As(Infix(x, "==", zero, Binds::kEquality, CType::kBool), x.type);
    }
    case UnaryOp::kSign:
      return helpers.Call(Helper::kSign, {x}, x.type);
    case UnaryOp::kSigmoid:
      return helpers.Call(Helper::kSigmoid, {x}, x.type);
    default:
      return Call(FunctionOf(op), {x}, x.type);
  }
}

// Small whole exponents by multiplication, as the other back-end has them.
CText Power(const CText& x, const CText& y, std::optional<double> exponent) {
  if (exponent == 1) return x;
  if (exponent == 2 || exponent == 3) {
    const CText square = Infix(x, "*", x, Binds::kProduct, x.type);
    return exponent == 2 ? square : Infix(square, "*", x, Binds::kProduct, x.type);
  }
  if (exponent == -1) {
    return Infix(FloatLiteral(1, x.type), "/", x, Binds::kProduct, x.type);
  }
  return Call("pow", {x, y}, x.type);
}

CText Compare(BinaryOp op, const CText& x, const CText& y) {
  static constexpr const char* kSigns[] = {"==", "!=", "<", "<=", ">", ">="};
  const char* const sign = kSigns[static_cast<int>(op) - static_cast<int>(BinaryOp::kEq)];
  const bool is_equality = op == BinaryOp::kEq || op == BinaryOp::kNe;
  return Infix(x, sign, y, is_equality ? Binds::kEquality : Binds::kComparison, CType::kBool);
}

CText BinaryValue(Helpers& helpers, BinaryOp op, const CText& x, const CText& y, DataType dtype,
                  std::optional<double> exponent) {
  switch (op) {
    case BinaryOp::kAdd:
      return Infix(x, "+", y, Binds::kSum, x.type);
    case BinaryOp::kSub:
      return Infix(x, "-", y, Binds::kSum, x.type);
    case BinaryOp::kMul:
      return Infix(x, "*", y, Binds::kProduct, x.type);
    case BinaryOp::kDiv:
      return Infix(x, "/", y, Binds::kProduct, x.type);
    case BinaryOp::kFloorDiv: {
      const CText quotient = Infix(x, "/", y, Binds::kProduct, x.type);
      return Call("floor", {RoundTo(helpers, quotient, dtype)}, x.type);
    }
    case BinaryOp::kFloorMod:
      return helpers.Call(Helper::kFloorModulo, {x, y}, x.type);
    case BinaryOp::kMod:
      return Call("fmod", {x, y}, x.type);
    case BinaryOp::kMin:
      return helpers.Call(Helper::kMin, {x, y}, x.type);
    case BinaryOp::kMax:
      return helpers.Call(Helper::kMax, {x, y}, x.type);
    case BinaryOp::kPow:
      return Power(x, y, exponent);
    case BinaryOp::kAnd:
      return Infix(Truth(x), "&&", Truth(y), Binds::kAnd, CType::kBool);
    case BinaryOp::kOr:
      return Infix(Truth(x), "||", Truth(y), Binds::kOr, CType::kBool);
    default:
      return Compare(op, x, y);
  }
}

}  // namespace

CText RoundTo(Helpers& helpers, const CText& value, DataType dtype) {
  if (dtype == DataType::kFloat16) return helpers.Call(Helper::kRoundHalf, {value}, CType::kFloat);
  if (dtype == DataType::kBFloat16) {
    return helpers.Call(Helper::kRoundBFloat16, {value}, CType::kFloat);
  }
  return value;
}

CText FloatUnary(Helpers& helpers, UnaryOp op, const CText& x, DataType dtype) {
  if (op == UnaryOp::kIsNan) return AsTruth(Call("isnan", {x}, CType::kInt));
  if (op == UnaryOp::kIsInf) return AsTruth(Call("isinf", {x}, CType::kInt));
  const CText value = UnaryValue(helpers, op, x);
  return IsExact(op) ? value : RoundTo(helpers, value, dtype);
}

CText FloatBinary(Helpers& helpers, BinaryOp op, const CText& x, const CText& y, DataType dtype,
                  std::optional<double> exponent) {
  const CText value = BinaryValue(helpers, op, x, y, dtype, exponent);
  const bool is_exact = loop::GivesBool(op) || op == BinaryOp::kMin || op == BinaryOp::kMax;
  return is_exact ? value : RoundTo(helpers, value, dtype);
}

}  // namespace hone::codegen::opencl
