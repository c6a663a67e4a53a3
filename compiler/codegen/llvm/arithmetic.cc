#include "compiler/codegen/llvm/arithmetic.h"

#include "compiler/codegen/llvm/math.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"

namespace hone::codegen {
namespace {

using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Type;
using llvm::Value;
using loop::BinaryOp;
using loop::UnaryOp;

Value* Zero(Value* like) { return llvm::Constant::getNullValue(like->getType()); }
Value* One(Value* like) { return ConstantInt::get(like->getType(), 1); }

Value* FloatSign(Builder& b, Value* x) {
  Value* one = ConstantFP::get(x->getType(), 1);
  Value* sign = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, one, x);
  sign = b.CreateSelect(b.CreateFCmpOEQ(x, Zero(x)), Zero(x), sign);
  return b.CreateSelect(b.CreateFCmpUNO(x, x), x, sign);
}

Value* UnaryFloat(Builder& b, UnaryOp op, Value* x, const TargetTraits& traits) {
  switch (op) {
    case UnaryOp::kNeg:
      return b.CreateFNeg(x);
    case UnaryOp::kNot:
      return b.CreateUIToFP(b.CreateFCmpOEQ(x, Zero(x)), x->getType());
    case UnaryOp::kAbs:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    case UnaryOp::kSqrt:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    case UnaryOp::kRsqrt:
      return b.CreateFDiv(ConstantFP::get(x->getType(), 1),
                          b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
    case UnaryOp::kFloor:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x);
    case UnaryOp::kCeil:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, x);
    case UnaryOp::kRound:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::rint, x);
    case UnaryOp::kIsNan:
      return b.CreateFCmpUNO(x, x);
    case UnaryOp::kIsInf:
      return b.CreateFCmpOEQ(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x),
                             ConstantFP::getInfinity(x->getType()));
    case UnaryOp::kSign:
      return FloatSign(b, x);
    default:
      return EmitMath(b, op, x, traits);
  }
}

Value* UnaryInt(Builder& b, UnaryOp op, Value* x, DataType dtype) {
  switch (op) {
    case UnaryOp::kNeg:
      return dtype == DataType::kBool ? x : b.CreateNeg(x);
    case UnaryOp::kNot:
      return b.CreateNot(x);
    case UnaryOp::kAbs:
      if (!IsSigned(dtype)) return x;
      return b.CreateSelect(b.CreateICmpSLT(x, Zero(x)), b.CreateNeg(x), x);
    case UnaryOp::kSign: {
      Value* positive = b.CreateZExtOrTrunc(b.CreateICmpNE(x, Zero(x)), x->getType());
      if (!IsSigned(dtype)) return positive;
      Value* minus = llvm::Constant::getAllOnesValue(x->getType());
      return b.CreateSelect(b.CreateICmpSLT(x, Zero(x)), minus, positive);
    }
    case UnaryOp::kIsNan:
    case UnaryOp::kIsInf:
      return llvm::Constant::getNullValue(WithElements(x->getType(), b.getInt1Ty()));
    default:
      return x;
  }
}

// x86's instruction; null where the type has none. Gives x where they are equal or either is NaN:
// the instructions give their second operand then.
Value* X86MinMax(Builder& b, bool is_min, Value* x, Value* y, const TargetTraits& traits) {
  namespace intrinsic = llvm::Intrinsic;
  if (!x->getType()->getScalarType()->isFloatTy() || LanesOf(x) != LanesOf(y)) return nullptr;
  if (traits.avx512 && LanesOf(x) == 16) {
    constexpr int kRoundAsIs = 4;
    return b.CreateIntrinsic(
        is_min ? intrinsic::x86_avx512_min_ps_512 : intrinsic::x86_avx512_max_ps_512, {},
        {y, x, b.getInt32(kRoundAsIs)});
  }
  if (traits.avx && LanesOf(x) == 8) {
    return b.CreateIntrinsic(is_min ? intrinsic::x86_avx_min_ps_256 : intrinsic::x86_avx_max_ps_256,
                             {}, {y, x});
  }
  if (traits.x86 && LanesOf(x) == 4) {
    return b.CreateIntrinsic(is_min ? intrinsic::x86_sse_min_ps : intrinsic::x86_sse_max_ps, {},
                             {y, x});
  }
  return nullptr;
}

// AVX-512: y where y is NaN, else x.
Value* PutNan(Builder& b, Value* x, Value* y) {
  constexpr int kNanOfSecond = 0x22;  // what the two kinds of NaN are replaced by
  constexpr int kRoundAsIs = 4;
  Value* table = ConstantInt::get(WithElements(x->getType(), b.getInt32Ty()), kNanOfSecond);
  return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_fixupimm_ps_512, {},
                           {x, y, table, b.getInt32(0), b.getInt16(-1), b.getInt32(kRoundAsIs)});
}

// The number that a value is in all lanes; else null.
const ConstantFP* FloatConstant(const Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  return llvm::dyn_cast_or_null<ConstantFP>(constant);
}

// NaN where either is NaN. One instruction on x86 where one operand is a constant.
Value* FloatMinMax(Builder& b, bool is_min, Value* x, Value* y, const TargetTraits& traits) {
  if (traits.nan_min_max) {
    return b.CreateBinaryIntrinsic(is_min ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum, x,
                                   y);
  }
  if (FloatConstant(x)) std::swap(x, y);
  const ConstantFP* number = FloatConstant(y);
  if (number && number->isNaN()) return y;
  if (!number) {
    if (Value* value = X86MinMax(b, is_min, x, y, traits)) {
      if (traits.avx512 && LanesOf(x) == 16) return PutNan(b, value, y);
      return b.CreateSelect(b.CreateFCmpUNO(y, y), y, value);
    }
  }
  Value* replace = is_min ? b.CreateFCmpOLT(y, x) : b.CreateFCmpOGT(y, x);
  Value* value = b.CreateSelect(replace, y, x);  // x where x is NaN
  if (number) return value;
  return b.CreateSelect(b.CreateFCmpUNO(y, y), y, value);
}

Value* FloatFloorMod(Builder& b, Value* x, Value* y, const TargetTraits& traits) {
  Value* r = EmitFmod(b, x, y, traits);
  Value* apart = b.CreateXor(b.CreateFCmpOLT(r, Zero(r)), b.CreateFCmpOLT(y, Zero(y)));
  Value* fix = b.CreateAnd(apart, b.CreateFCmpUNE(r, Zero(r)));
  return b.CreateSelect(fix, b.CreateFAdd(r, y), r);
}

Value* FloatPow(Builder& b, Value* x, Value* y) {
  if (const ConstantFP* number = FloatConstant(y)) {
    if (number->isExactlyValue(1.0)) return x;
    if (number->isExactlyValue(2.0)) return b.CreateFMul(x, x);
    if (number->isExactlyValue(3.0)) return b.CreateFMul(b.CreateFMul(x, x), x);
    if (number->isExactlyValue(-1.0)) return b.CreateFDiv(ConstantFP::get(x->getType(), 1), x);
  }
  return EmitPow(b, x, y);
}

Value* BinaryFloat(Builder& b, BinaryOp op, Value* x, Value* y, const TargetTraits& traits) {
  switch (op) {
    case BinaryOp::kAdd:
      return b.CreateFAdd(x, y);
    case BinaryOp::kSub:
      return b.CreateFSub(x, y);
    case BinaryOp::kMul:
      return b.CreateFMul(x, y);
    case BinaryOp::kDiv:
      return b.CreateFDiv(x, y);
    case BinaryOp::kFloorDiv:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, b.CreateFDiv(x, y));
    case BinaryOp::kFloorMod:
      return FloatFloorMod(b, x, y, traits);
    case BinaryOp::kMod:
      return EmitFmod(b, x, y, traits);
    case BinaryOp::kMin:
    case BinaryOp::kMax:
      return FloatMinMax(b, op == BinaryOp::kMin, x, y, traits);
    case BinaryOp::kPow:
      return FloatPow(b, x, y);
    case BinaryOp::kEq:
      return b.CreateFCmpOEQ(x, y);
    case BinaryOp::kNe:
      return b.CreateFCmpUNE(x, y);
    case BinaryOp::kLt:
      return b.CreateFCmpOLT(x, y);
    case BinaryOp::kLe:
      return b.CreateFCmpOLE(x, y);
    case BinaryOp::kGt:
      return b.CreateFCmpOGT(x, y);
    case BinaryOp::kGe:
      return b.CreateFCmpOGE(x, y);
    case BinaryOp::kAnd:
      return b.CreateAnd(b.CreateFCmpUNE(x, Zero(x)), b.CreateFCmpUNE(y, Zero(y)));
    case BinaryOp::kOr:
      return b.CreateOr(b.CreateFCmpUNE(x, Zero(x)), b.CreateFCmpUNE(y, Zero(y)));
    default:
      llvm_unreachable("not an operator of floats");
  }
}

// A constant divisor neither traps nor overflows, save -1.
bool IsPlainDivisor(const Value* y) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(y);
  if (constant && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<ConstantInt>(constant);
  return number && !number->isZero() && !number->isMinusOne();
}

// Quotient and remainder towards zero.
struct Division {
  Value* quotient;
  Value* remainder;
};

Division DivideInts(Builder& b, Value* x, Value* y, bool is_signed) {
  return is_signed ? Division{b.CreateSDiv(x, y), b.CreateSRem(x, y)}
                   : Division{b.CreateUDiv(x, y), b.CreateURem(x, y)};
}

// Divides vectors of at most 32 bits as floating-point numbers of more than twice as many, which is
// as exact: whole quotients are further from what lies below them than these round. x86 divides no
// integers in vectors, and LLVM would take them apart.
Division DivideAsFloats(Builder& b, Value* x, Value* y, bool is_signed) {
  Type* type = x->getType();
  const bool is_wide = type->getScalarSizeInBits() > 16;
  Type* floats = WithElements(type, is_wide ? b.getDoubleTy() : b.getFloatTy());
  const auto widened = [&](Value* v) {
    return is_signed ? b.CreateSIToFP(v, floats) : b.CreateUIToFP(v, floats);
  };
  Value* exact = b.CreateFDiv(widened(x), widened(y));
  Value* quotient = is_signed ? b.CreateFPToSI(exact, type) : b.CreateFPToUI(exact, type);
  return {quotient, b.CreateSub(x, b.CreateMul(quotient, y))};
}

// Neither a division by zero nor one that overflows.
Division DivideSafely(Builder& b, Value* x, Value* y, bool is_signed, const TargetTraits& traits) {
  if (traits.x86 && LanesOf(x) > 1 && x->getType()->getScalarSizeInBits() <= 32) {
    return DivideAsFloats(b, x, y, is_signed);
  }
  return DivideInts(b, x, y, is_signed);
}

// Neither a division by zero, which gives zeros, nor one of the lowest value by -1 traps.
Division Divide(Builder& b, Value* x, Value* y, bool is_signed, const TargetTraits& traits) {
  if (IsPlainDivisor(y)) return DivideInts(b, x, y, is_signed);
  Value* is_zero = b.CreateICmpEQ(y, Zero(y));
  x = b.CreateSelect(is_zero, Zero(x), x);
  if (!is_signed) {
    Value* safe = b.CreateSelect(is_zero, One(y), y);
    return DivideSafely(b, x, safe, false, traits);
  }
  Value* minus_one = b.CreateICmpEQ(y, llvm::Constant::getAllOnesValue(y->getType()));
  Value* safe = b.CreateSelect(b.CreateOr(is_zero, minus_one), One(y), y);
  const Division d = DivideSafely(b, x, safe, true, traits);
  return {b.CreateSelect(minus_one, b.CreateNeg(x), d.quotient), d.remainder};
}

Value* FloorDivide(Builder& b, Value* x, Value* y, bool is_signed, bool modulus,
                   const TargetTraits& traits) {
  const Division d = Divide(b, x, y, is_signed, traits);
  if (!is_signed) return modulus ? d.remainder : d.quotient;
  Value* apart = b.CreateICmpSLT(b.CreateXor(d.remainder, y), Zero(y));
  Value* fix = b.CreateAnd(apart, b.CreateICmpNE(d.remainder, Zero(y)));
  if (modulus) return b.CreateAdd(d.remainder, b.CreateSelect(fix, y, Zero(y)));
  return b.CreateSub(d.quotient, b.CreateZExt(fix, x->getType()));
}

Value* Shift(Builder& b, BinaryOp op, Value* x, Value* y, bool is_signed) {
  const unsigned width = x->getType()->getScalarSizeInBits();
  Value* beyond = b.CreateICmpUGE(y, ConstantInt::get(y->getType(), width));
  if (op == BinaryOp::kShiftRight && is_signed) {
    Value* last = ConstantInt::get(y->getType(), width - 1);
    return b.CreateAShr(x, b.CreateSelect(beyond, last, y));
  }
  Value* count = b.CreateSelect(beyond, Zero(y), y);
  Value* shifted = op == BinaryOp::kShiftLeft ? b.CreateShl(x, count) : b.CreateLShr(x, count);
  return b.CreateSelect(beyond, Zero(x), shifted);
}

// x^y of integers by a helper function of the module: square and multiply in 64 bits.
llvm::Function* IntPowFunction(Builder& b, bool is_signed) {
  const char* const name = is_signed ? "hone.pow" : "hone.upow";
  llvm::Module* module = b.GetInsertBlock()->getModule();
  if (llvm::Function* found = module->getFunction(name)) return found;
  Type* i64 = b.getInt64Ty();
  auto* type = llvm::FunctionType::get(i64, {i64, i64}, false);
  auto* f = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module);
  f->setDoesNotThrow();
  auto& context = b.getContext();
  auto* entry = llvm::BasicBlock::Create(context, "entry", f);
  auto* body = llvm::BasicBlock::Create(context, "body", f);
  auto* exit = llvm::BasicBlock::Create(context, "exit", f);
  Builder fb(entry);
  Value* base = f->getArg(0);
  Value* exponent = f->getArg(1);
  // By a negative exponent only 1 and -1 have an integer power.
  Value* negative = is_signed ? fb.CreateICmpSLT(exponent, fb.getInt64(0)) : fb.getFalse();
  Value* unit = fb.CreateICmpULE(fb.CreateAdd(base, fb.getInt64(1)), fb.getInt64(2));
  unit = fb.CreateAnd(unit, fb.CreateICmpNE(base, fb.getInt64(0)));
  Value* start =
      fb.CreateSelect(fb.CreateAnd(negative, fb.CreateNot(unit)), fb.getInt64(0), fb.getInt64(1));
  Value* count = fb.CreateSelect(negative, fb.CreateAnd(exponent, fb.getInt64(1)), exponent);
  fb.CreateCondBr(fb.CreateICmpNE(count, fb.getInt64(0)), body, exit);
  fb.SetInsertPoint(body);
  auto* result = fb.CreatePHI(i64, 2);
  auto* power = fb.CreatePHI(i64, 2);
  auto* left = fb.CreatePHI(i64, 2);
  Value* odd = fb.CreateICmpNE(fb.CreateAnd(left, fb.getInt64(1)), fb.getInt64(0));
  Value* next = fb.CreateSelect(odd, fb.CreateMul(result, power), result);
  Value* squared = fb.CreateMul(power, power);
  Value* rest = fb.CreateLShr(left, 1);
  result->addIncoming(start, entry);
  result->addIncoming(next, body);
  power->addIncoming(base, entry);
  power->addIncoming(squared, body);
  left->addIncoming(count, entry);
  left->addIncoming(rest, body);
  fb.CreateCondBr(fb.CreateICmpNE(rest, fb.getInt64(0)), body, exit);
  fb.SetInsertPoint(exit);
  auto* value = fb.CreatePHI(i64, 2);
  value->addIncoming(start, entry);
  value->addIncoming(next, body);
  fb.CreateRet(value);
  return f;
}

Value* IntPow(Builder& b, Value* x, Value* y, bool is_signed) {
  llvm::Function* f = IntPowFunction(b, is_signed);
  const int lanes = LanesOf(x);
  Type* scalar = x->getType()->getScalarType();
  const auto one = [&](Value* base, Value* exponent) -> Value* {
    Value* wide = b.CreateCall(f, {b.CreateIntCast(base, b.getInt64Ty(), is_signed),
                                   b.CreateIntCast(exponent, b.getInt64Ty(), is_signed)});
    return b.CreateIntCast(wide, scalar, is_signed);
  };
  if (lanes == 1) return one(x, y);
  Value* result = llvm::PoisonValue::get(x->getType());
  for (int i = 0; i < lanes; ++i) {
    Value* power = one(b.CreateExtractElement(x, i), b.CreateExtractElement(y, i));
    result = b.CreateInsertElement(result, power, i);
  }
  return result;
}

Value* CompareInts(Builder& b, BinaryOp op, Value* x, Value* y, bool is_signed) {
  switch (op) {
    case BinaryOp::kEq:
      return b.CreateICmpEQ(x, y);
    case BinaryOp::kNe:
      return b.CreateICmpNE(x, y);
    case BinaryOp::kLt:
      return is_signed ? b.CreateICmpSLT(x, y) : b.CreateICmpULT(x, y);
    case BinaryOp::kLe:
      return is_signed ? b.CreateICmpSLE(x, y) : b.CreateICmpULE(x, y);
    case BinaryOp::kGt:
      return is_signed ? b.CreateICmpSGT(x, y) : b.CreateICmpUGT(x, y);
    case BinaryOp::kGe:
      return is_signed ? b.CreateICmpSGE(x, y) : b.CreateICmpUGE(x, y);
    case BinaryOp::kAnd:
      return b.CreateAnd(b.CreateICmpNE(x, Zero(x)), b.CreateICmpNE(y, Zero(y)));
    default:  // kOr
      return b.CreateOr(b.CreateICmpNE(x, Zero(x)), b.CreateICmpNE(y, Zero(y)));
  }
}

Value* BinaryInt(Builder& b, BinaryOp op, Value* x, Value* y, bool is_signed, bool is_bool,
                 const TargetTraits& traits) {
  switch (op) {
    case BinaryOp::kAdd:
      return is_bool ? b.CreateOr(x, y) : b.CreateAdd(x, y);
    case BinaryOp::kSub:
      return is_bool ? b.CreateXor(x, y) : b.CreateSub(x, y);
    case BinaryOp::kMul:
      return is_bool ? b.CreateAnd(x, y) : b.CreateMul(x, y);
    case BinaryOp::kDiv:
      return Divide(b, x, y, is_signed, traits).quotient;
    case BinaryOp::kMod:
      return Divide(b, x, y, is_signed, traits).remainder;
    case BinaryOp::kFloorDiv:
      return FloorDivide(b, x, y, is_signed, /*modulus=*/false, traits);
    case BinaryOp::kFloorMod:
      return FloorDivide(b, x, y, is_signed, /*modulus=*/true, traits);
    case BinaryOp::kMin:
      return b.CreateSelect(is_signed ? b.CreateICmpSLT(y, x) : b.CreateICmpULT(y, x), y, x);
    case BinaryOp::kMax:
      return b.CreateSelect(is_signed ? b.CreateICmpSGT(y, x) : b.CreateICmpUGT(y, x), y, x);
    case BinaryOp::kPow:
      return IntPow(b, x, y, is_signed);
    case BinaryOp::kXor:
      return b.CreateXor(x, y);
    case BinaryOp::kBitAnd:
      return b.CreateAnd(x, y);
    case BinaryOp::kBitOr:
      return b.CreateOr(x, y);
    case BinaryOp::kShiftLeft:
    case BinaryOp::kShiftRight:
      return Shift(b, op, x, y, is_signed);
    default:
      return CompareInts(b, op, x, y, is_signed);
  }
}

bool IsBool(BinaryOp op) { return op >= BinaryOp::kEq && op <= BinaryOp::kOr; }

}  // namespace

llvm::Value* EmitUnary(Builder& b, UnaryOp op, llvm::Value* x, DataType dtype,
                       const TargetTraits& traits) {
  if (!IsFloat(dtype)) return UnaryInt(b, op, x, dtype);
  Value* value = UnaryFloat(b, op, x, traits);
  const bool gives_bool = op == UnaryOp::kIsNan || op == UnaryOp::kIsInf;
  const bool exact = op == UnaryOp::kNeg || op == UnaryOp::kAbs;
  return gives_bool || exact ? value : RoundToType(b, value, dtype, traits);
}

llvm::Value* EmitBinary(Builder& b, BinaryOp op, llvm::Value* x, llvm::Value* y, DataType dtype,
                        const TargetTraits& traits, bool non_negative) {
  Match(b, x, y);
  if (!IsFloat(dtype)) {
    return BinaryInt(b, op, x, y, IsSigned(dtype) && !non_negative, dtype == DataType::kBool,
                     traits);
  }
  Value* value = BinaryFloat(b, op, x, y, traits);
  const bool exact = IsBool(op) || op == BinaryOp::kMin || op == BinaryOp::kMax;
  return exact ? value : RoundToType(b, value, dtype, traits);
}

llvm::Value* EmitMulAdd(Builder& b, llvm::Value* x, llvm::Value* y, llvm::Value* z) {
  const int lanes = std::max({LanesOf(x), LanesOf(y), LanesOf(z)});
  x = Splat(b, x, lanes);
  y = Splat(b, y, lanes);
  z = Splat(b, z, lanes);
  return b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {x->getType()}, {x, y, z});
}

}  // namespace hone::codegen
