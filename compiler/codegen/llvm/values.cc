#include "compiler/codegen/llvm/values.h"

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Operator.h"

namespace hone::codegen {
namespace {

using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Type;
using llvm::Value;

Type* Int16Like(Builder& b, const Value* value) {
  return WithElements(value->getType(), b.getInt16Ty());
}
Type* Int32Like(Builder& b, const Value* value) {
  return WithElements(value->getType(), b.getInt32Ty());
}
Type* FloatLike(Builder& b, const Value* value) {
  return WithElements(value->getType(), b.getFloatTy());
}
Value* Int(Type* type, uint64_t value) { return ConstantInt::get(type, value); }

// Rounds the bits of a float to the nearest with `dropped` low bits zero, ties to even.
Value* DropLowBits(Builder& b, Value* bits, int dropped) {
  Type* type = bits->getType();
  Value* odd = b.CreateAnd(b.CreateLShr(bits, dropped), Int(type, 1));
  Value* bias = b.CreateAdd(odd, Int(type, (uint64_t{1} << (dropped - 1)) - 1));
  return b.CreateAnd(b.CreateAdd(bits, bias), Int(type, ~((uint64_t{1} << dropped) - 1)));
}

// LLVM rounds without VL by calls of the compiler's runtime library, also sixteen lanes.
bool HasBFloat16Rounding(const Value* value, const TargetTraits& traits) {
  if (!value->getType()->getScalarType()->isFloatTy()) return false;
  const int lanes = LanesOf(value);
  return ((lanes == 16 || lanes == 8) && traits.bfloat16) ||
         ((lanes == 8 || lanes == 4) && traits.arm_bfloat16) || traits.gpu_bfloat16;
}

// A float of doubles: where bits are lost, the last that stays is set, as it is in no narrower
// type, so that rounding once more rounds as if it were the first time. What is subnormal as a
// float is rounded twice.
Value* RoundToOddFloat(Builder& b, Value* value) {
  constexpr int kLost = 29;
  Type* ints = WithElements(value->getType(), b.getInt64Ty());
  Value* bits = b.CreateBitCast(value, ints);
  Value* lost = b.CreateAnd(bits, Int(ints, (uint64_t{1} << kLost) - 1));
  Value* last = b.CreateShl(b.CreateZExt(b.CreateICmpNE(lost, Int(ints, 0)), ints), kLost);
  bits = b.CreateOr(b.CreateSub(bits, lost), last);
  return b.CreateFPTrunc(b.CreateBitCast(bits, value->getType()), FloatLike(b, value));
}

// An integer of 64 bits that a double is: where bits are lost, the last that stays is set, as
// above.
Value* RoundToOddDoubleBits(Builder& b, Value* value, bool is_signed) {
  constexpr int kLost = 64 - 53;
  Type* ints = value->getType();
  Value* lost = b.CreateAnd(value, Int(ints, (uint64_t{1} << kLost) - 1));
  Value* rounded = b.CreateOr(b.CreateSub(value, lost), Int(ints, uint64_t{1} << kLost));
  // Beyond 2^53, of numbers with a sign plus and minus, in one comparison without a sign.
  constexpr uint64_t kExact = uint64_t{1} << 53;
  Value* fits = is_signed
                    ? b.CreateICmpULE(b.CreateAdd(value, Int(ints, kExact)), Int(ints, 2 * kExact))
                    : b.CreateICmpULE(value, Int(ints, kExact));
  fits = b.CreateOr(fits, b.CreateICmpEQ(lost, Int(ints, 0)));
  return b.CreateSelect(fits, value, rounded);
}

// GPUs that round to bfloat16 also round two floats to bfloat16 or float16 by one instruction.
bool RoundsPairs(const Value* value, const TargetTraits& traits) {
  return traits.gpu_bfloat16 && LanesOf(value) % 2 == 0 &&
         value->getType()->getScalarType()->isFloatTy();
}

// NVIDIA's GPUs round two floats by one instruction, which LLVM does not choose by itself.
Value* RoundPairs(Builder& b, Value* value, llvm::Intrinsic::ID pair, Type* element) {
  const int lanes = LanesOf(value);
  Value* rounded = llvm::PoisonValue::get(Widen(element, lanes));
  for (int lane = 0; lane < lanes; lane += 2) {
    Value* high = b.CreateExtractElement(value, static_cast<uint64_t>(lane) + 1);
    Value* low = b.CreateExtractElement(value, static_cast<uint64_t>(lane));
    Value* both = b.CreateIntrinsic(pair, {}, {high, low});
    for (int i = 0; i < 2; ++i) {
      rounded =
          b.CreateInsertElement(rounded, b.CreateExtractElement(both, static_cast<uint64_t>(i)),
                                static_cast<uint64_t>(lane + i));
    }
  }
  return rounded;
}

Value* TruncateToBFloat16(Builder& b, Value* value, const TargetTraits& traits) {
  if (RoundsPairs(value, traits)) {
    return RoundPairs(b, value, llvm::Intrinsic::nvvm_ff2bf16x2_rn, b.getBFloatTy());
  }
  return b.CreateFPTrunc(value, WithElements(value->getType(), b.getBFloatTy()));
}

Value* RoundToBFloat16(Builder& b, Value* value, const TargetTraits& traits) {
  if (HasBFloat16Rounding(value, traits)) {
    Value* rounded = TruncateToBFloat16(b, value, traits);
    Value* stored = b.CreateBitCast(rounded, Int16Like(b, value));
    return b.CreateBitCast(b.CreateShl(b.CreateZExt(stored, Int32Like(b, value)), 16),
                           value->getType());
  }
  Value* bits = b.CreateBitCast(value, Int32Like(b, value));
  Value* rounded = b.CreateBitCast(DropLowBits(b, bits, 16), value->getType());
  return b.CreateSelect(b.CreateFCmpUNO(value, value), ConstantFP::getNaN(value->getType()),
                        rounded);
}

Value* Magnitude(Builder& b, Value* value) {
  return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
}
Value* WithSignOf(Builder& b, Value* magnitude, Value* sign) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
}

// For machines without conversion instructions.
Value* RoundToFloat16ByBits(Builder& b, Value* value) {
  Type* type = value->getType();
  Value* magnitude = Magnitude(b, value);
  // In [0.5, 1) floats are 2^-24 apart, as subnormal halves are.
  Value* half = ConstantFP::get(type, 0.5);
  Value* subnormal = b.CreateFSub(b.CreateFAdd(magnitude, half), half);
  Value* normal =
      b.CreateBitCast(DropLowBits(b, b.CreateBitCast(magnitude, Int32Like(b, value)), 13), type);
  Value* infinity = ConstantFP::getInfinity(type);
  normal =
      b.CreateSelect(b.CreateFCmpOGT(normal, ConstantFP::get(type, 65504.0)), infinity, normal);
  Value* small = b.CreateFCmpOLT(magnitude, ConstantFP::get(type, 0x1p-14));
  Value* rounded = b.CreateSelect(small, subnormal, normal);
  rounded = b.CreateSelect(b.CreateFCmpUNO(value, value), ConstantFP::getNaN(type), rounded);
  return WithSignOf(b, rounded, value);
}

Value* EncodeFloat16ByBits(Builder& b, Value* value) {
  Type* ints = Int32Like(b, value);
  Type* type = value->getType();
  Value* magnitude = Magnitude(b, value);
  Value* bits = b.CreateBitCast(magnitude, ints);
  Value* normal = b.CreateSub(b.CreateLShr(bits, 13), Int(ints, 112 << 10));
  // Adding 0.5 moves the 10 bits of a subnormal half to the low end of the mantissa.
  Value* shifted = b.CreateBitCast(b.CreateFAdd(magnitude, ConstantFP::get(type, 0.5)), ints);
  Value* subnormal = b.CreateAnd(shifted, Int(ints, 0x7FF));
  Value* is_small = b.CreateFCmpOLT(magnitude, ConstantFP::get(type, 0x1p-14));
  Value* encoded = b.CreateSelect(is_small, subnormal, normal);
  Value* infinity = ConstantFP::getInfinity(type);
  encoded = b.CreateSelect(b.CreateFCmpOEQ(magnitude, infinity), Int(ints, 0x7C00), encoded);
  encoded = b.CreateSelect(b.CreateFCmpUNO(value, value), Int(ints, 0x7E00), encoded);
  Value* sign = b.CreateAnd(b.CreateLShr(b.CreateBitCast(value, ints), 16), Int(ints, 0x8000));
  return b.CreateTrunc(b.CreateOr(encoded, sign), Int16Like(b, value));
}

Value* DecodeFloat16ByBits(Builder& b, Value* stored) {
  Type* ints = Int32Like(b, stored);
  Type* type = FloatLike(b, stored);
  Value* bits = b.CreateZExt(stored, ints);
  Value* magnitude = b.CreateShl(b.CreateAnd(bits, Int(ints, 0x7FFF)), 13);
  // The exponent's bias is 112 less.
  Value* scaled = b.CreateFMul(b.CreateBitCast(magnitude, type), ConstantFP::get(type, 0x1p112));
  // The 10 bits of a subnormal half at the low end of 0.5's mantissa: no subnormal float is met,
  // which could count as zero.
  constexpr uint32_t kHalf = 0x3F000000;
  Value* shifted = b.CreateBitCast(b.CreateOr(b.CreateLShr(magnitude, 13), Int(ints, kHalf)), type);
  Value* subnormal = b.CreateFSub(shifted, ConstantFP::get(type, 0.5));
  Value* is_small = b.CreateICmpULT(magnitude, Int(ints, 0x400 << 13));
  scaled = b.CreateSelect(is_small, subnormal, scaled);
  Value* special = b.CreateBitCast(b.CreateOr(magnitude, Int(ints, 0x7F800000)), type);
  Value* is_special = b.CreateICmpUGE(magnitude, Int(ints, 0x0F800000));
  Value* sign = b.CreateShl(b.CreateAnd(bits, Int(ints, 0x8000)), 16);
  return WithSignOf(b, b.CreateSelect(is_special, special, scaled), b.CreateBitCast(sign, type));
}

// LLVM computes in halves what is rounded to them right after. There it may not make one operation
// of a product that is rounded and the sum behind it.
void ForbidContraction(Value* value) {
  if (!llvm::isa<llvm::FPMathOperator>(value)) return;
  if (auto* const operation = llvm::dyn_cast<llvm::Instruction>(value)) {
    operation->setHasAllowContract(false);
  }
}

Value* RoundToFloat16(Builder& b, Value* value, const TargetTraits& traits) {
  if (!traits.half_conversions) return RoundToFloat16ByBits(b, value);
  ForbidContraction(value);
  Value* rounded = nullptr;
  if (RoundsPairs(value, traits)) {
    rounded = RoundPairs(b, value, llvm::Intrinsic::nvvm_ff2f16x2_rn, b.getHalfTy());
  } else {
    rounded = b.CreateFPTrunc(value, WithElements(value->getType(), b.getHalfTy()));
  }
  return b.CreateFPExt(rounded, value->getType());
}

// x86's truncation: what does not fit in 32 bits, NaN too, becomes the lowest number. Null where
// the vector has no such instruction.
Value* Truncated(Builder& b, Value* value) {
  switch (LanesOf(value)) {
    case 4:
      return b.CreateIntrinsic(llvm::Intrinsic::x86_sse2_cvttps2dq, {}, {value});
    case 8:
      return b.CreateIntrinsic(llvm::Intrinsic::x86_avx_cvtt_ps2dq_256, {}, {value});
    case 16: {
      constexpr int kCurrentDirection = 4;
      Value* none = llvm::Constant::getNullValue(Int32Like(b, value));
      return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_cvttps2dq_512, {},
                               {value, none, b.getInt16(-1), b.getInt32(kCurrentDirection)});
    }
    default:
      return nullptr;
  }
}

// A vector of float32 as integers of 8 or 16 bits, which the instruction for 32 bits holds: NaN's
// low bits are zero. LLVM would take the vector apart. Null where there is no such instruction.
Value* NarrowFloats(Builder& b, Value* value, Type* result, bool is_signed,
                    const TargetTraits& traits) {
  const unsigned bits = result->getScalarSizeInBits();
  const int bytes = 4 * LanesOf(value);
  if (bits > 16 || !value->getType()->getScalarType()->isFloatTy() || bytes < 16 ||
      bytes > traits.vector_bytes) {
    return nullptr;
  }
  const auto low = llvm::APInt::getSignedMinValue(bits).getSExtValue();
  const auto high = llvm::APInt::getMaxValue(bits).getZExtValue();
  Value* least = ConstantFP::get(value->getType(), is_signed ? static_cast<double>(low) : 0.0);
  Value* most = ConstantFP::get(value->getType(), static_cast<double>(is_signed ? -low - 1 : high));
  // In this order NaN stays NaN, in one instruction each.
  value = b.CreateSelect(b.CreateFCmpOGT(least, value), least, value);
  value = b.CreateSelect(b.CreateFCmpOLT(most, value), most, value);
  Value* wide = Truncated(b, value);
  return wide ? b.CreateTrunc(wide, result) : nullptr;
}

// A vector of floats as integers of 32 or 64 bits: what fits is converted, and the limits put where
// there is more. LLVM would take the vector apart.
Value* WideInts(Builder& b, Value* value, Type* result, bool is_signed) {
  const unsigned bits = result->getScalarSizeInBits();
  const llvm::fltSemantics& semantics = value->getType()->getScalarType()->getFltSemantics();
  llvm::APFloat limit(semantics);
  limit.convertFromAPInt(llvm::APInt::getOneBitSet(bits + 1, is_signed ? bits - 1 : bits), false,
                         llvm::APFloat::rmTowardZero);
  Value* beyond = ConstantFP::get(value->getType(), limit);
  Value* least = is_signed ? b.CreateFNeg(beyond) : ConstantFP::get(value->getType(), 0);
  limit.next(/*nextDown=*/true);
  Value* most = ConstantFP::get(value->getType(), limit);
  Value* fits = b.CreateSelect(b.CreateFCmpOGT(value, least), value, least);  // NaN: least
  fits = b.CreateSelect(b.CreateFCmpOLT(fits, most), fits, most);
  Value* ints = is_signed ? b.CreateFPToSI(fits, result) : b.CreateFPToUI(fits, result);
  const llvm::APInt largest =
      is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  ints =
      b.CreateSelect(b.CreateFCmpOGE(value, beyond), llvm::ConstantInt::get(result, largest), ints);
  if (!is_signed) return ints;
  return b.CreateSelect(b.CreateFCmpUNO(value, value), llvm::Constant::getNullValue(result), ints);
}

Value* FloatToInt(Builder& b, Value* value, Type* result, bool is_signed,
                  const TargetTraits& traits) {
  if (!traits.saturating_casts) {
    if (Value* narrow = NarrowFloats(b, value, result, is_signed, traits)) return narrow;
    if (LanesOf(value) > 1 && result->getScalarSizeInBits() >= 32) {
      return WideInts(b, value, result, is_signed);
    }
  }
  const auto id = is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  return b.CreateIntrinsic(id, {result, value->getType()}, {value});
}

Value* IntToFloat(Builder& b, Value* value, Type* result, bool is_signed) {
  return is_signed ? b.CreateSIToFP(value, result) : b.CreateUIToFP(value, result);
}

}  // namespace

TargetTraits TargetTraits::Of(const CpuTarget& target) {
  TargetTraits traits;
  traits.half_conversions = target.IsAArch64() || target.Has("f16c") || target.Has("avx512f");
  traits.roundings =
      !target.IsX86() || target.Has("sse4.1") || target.Has("sse4.2") || target.VectorBytes() > 16;
  traits.fuses = !target.IsX86() || target.Has("fma") || target.Has("avx512f");
  traits.nan_min_max = target.IsAArch64();
  traits.multiplies_by_element = target.IsAArch64();
  traits.x86 = target.IsX86();
  traits.avx = target.Has("avx");
  traits.avx512 = target.Has("avx512f");
  traits.avx512_dq = traits.avx512 && target.Has("avx512dq");
  traits.vector_bytes = target.VectorBytes();
  traits.saturating_casts = target.IsAArch64();
  traits.vnni_512 = target.Has("avx512vnni");
  traits.vnni = target.Has("avxvnni") || (target.Has("avx512vnni") && target.Has("avx512vl"));
  traits.arm_dot = target.Has("dotprod");
  traits.arm_mixed_dot = target.Has("i8mm");
  traits.bfloat16_512 = target.Has("avx512bf16");
  traits.bfloat16 = target.Has("avx512bf16") && target.Has("avx512vl");
  traits.arm_bfloat16 = target.IsAArch64() && target.Has("bf16");
  traits.tile_bfloat16 = target.MultipliesInTiles(DataType::kBFloat16);
  traits.tile_bytes = target.MultipliesInTiles(DataType::kInt8);
  if (target.IsX86()) {
    traits.pair_sum_bytes = target.Has("avx512bw") ? 64 : target.Has("avx2") ? 32 : 16;
  }
  return traits;
}

// A thread computes one lane; its widest accesses to memory are of 16 bytes.
TargetTraits TargetTraits::Of(const CudaTarget& target) {
  TargetTraits traits;
  traits.gpu_bfloat16 = !target.arch.starts_with("sm_7");
  traits.half_conversions = true;
  traits.prefetches = false;
  traits.vector_bytes = 16;
  return traits;
}

llvm::Type* RegisterType(llvm::LLVMContext& context, DataType dtype) {
  switch (dtype) {
    case DataType::kBool:
      return Type::getInt1Ty(context);
    case DataType::kFloat16:
    case DataType::kBFloat16:
      return Type::getFloatTy(context);
    default:
      return MemoryType(context, dtype);
  }
}

llvm::Type* MemoryType(llvm::LLVMContext& context, DataType dtype) {
  if (dtype == DataType::kFloat32) return Type::getFloatTy(context);
  if (dtype == DataType::kFloat64) return Type::getDoubleTy(context);
  return Type::getIntNTy(context, SizeBytes(dtype) * 8);
}

bool IsSigned(DataType dtype) { return !IsUnsigned(dtype) && dtype != DataType::kBool; }

llvm::Align AlignOfElement(const llvm::Type* element) {
  return llvm::Align(element->getScalarSizeInBits() / 8);
}

int LanesOf(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector ? static_cast<int>(vector->getNumElements()) : 1;
}

llvm::Type* Widen(llvm::Type* scalar, int lanes) {
  return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
}

llvm::Type* WithElements(const llvm::Type* like, llvm::Type* element) {
  return Widen(element, LanesOf(like));
}

llvm::Value* Splat(Builder& b, llvm::Value* value, int lanes) {
  if (lanes == 1 || LanesOf(value) == lanes) return value;
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
    return llvm::ConstantVector::getSplat(
        llvm::ElementCount::getFixed(static_cast<unsigned>(lanes)), constant);
  }
  return b.CreateVectorSplat(static_cast<unsigned>(lanes), value);
}

void Match(Builder& b, llvm::Value*& x, llvm::Value*& y) {
  const int lanes = std::max(LanesOf(x), LanesOf(y));
  x = Splat(b, x, lanes);
  y = Splat(b, y, lanes);
}

llvm::Value* FromMemory(Builder& b, llvm::Value* stored, DataType dtype,
                        const TargetTraits& traits) {
  switch (dtype) {
    case DataType::kBool:
      return b.CreateICmpNE(stored, Int(stored->getType(), 0));
    case DataType::kBFloat16:
      return b.CreateBitCast(b.CreateShl(b.CreateZExt(stored, Int32Like(b, stored)), 16),
                             FloatLike(b, stored));
    case DataType::kFloat16: {
      if (!traits.half_conversions) return DecodeFloat16ByBits(b, stored);
      Value* half = b.CreateBitCast(stored, WithElements(stored->getType(), b.getHalfTy()));
      return b.CreateFPExt(half, FloatLike(b, stored));
    }
    default:
      return stored;
  }
}

llvm::Value* ToMemory(Builder& b, llvm::Value* value, DataType dtype, const TargetTraits& traits) {
  switch (dtype) {
    case DataType::kBool:
      return b.CreateZExt(value, WithElements(value->getType(), b.getInt8Ty()));
    case DataType::kBFloat16:
      return b.CreateTrunc(b.CreateLShr(b.CreateBitCast(value, Int32Like(b, value)), 16),
                           Int16Like(b, value));
    case DataType::kFloat16: {
      if (!traits.half_conversions) return EncodeFloat16ByBits(b, value);
      Value* half = b.CreateFPTrunc(value, WithElements(value->getType(), b.getHalfTy()));
      return b.CreateBitCast(half, Int16Like(b, value));
    }
    default:
      return value;
  }
}

llvm::Value* RoundToType(Builder& b, llvm::Value* value, DataType dtype,
                         const TargetTraits& traits) {
  if (dtype == DataType::kBFloat16) return RoundToBFloat16(b, value, traits);
  if (dtype == DataType::kFloat16) return RoundToFloat16(b, value, traits);
  return value;
}

llvm::Value* EmitCast(Builder& b, llvm::Value* value, DataType from, DataType to,
                      const TargetTraits& traits) {
  if (from == to) return value;
  Type* type = WithElements(value->getType(), RegisterType(b.getContext(), to));
  if (to == DataType::kBool) {
    Value* zero = llvm::Constant::getNullValue(value->getType());
    return IsFloat(from) ? b.CreateFCmpUNE(value, zero) : b.CreateICmpNE(value, zero);
  }
  if (!IsFloat(to)) {
    if (IsFloat(from)) return FloatToInt(b, value, type, IsSigned(to), traits);
    return b.CreateIntCast(value, type, IsSigned(from));
  }
  // Floats of 16 bits lie in registers as 32: on the way there nothing may be rounded to nearest.
  const bool is_wide_int = IsInteger(from) && SizeBytes(from) >= 4;
  if (to == DataType::kBFloat16 && is_wide_int) {
    if (SizeBytes(from) == 8) value = RoundToOddDoubleBits(b, value, IsSigned(from));
    value = IntToFloat(b, value, WithElements(type, b.getDoubleTy()), IsSigned(from));
    from = DataType::kFloat64;
  }
  if (from == DataType::kFloat64 && SizeBytes(to) == 2) {
    return RoundToType(b, RoundToOddFloat(b, value), to, traits);
  }
  Value* converted =
      IsFloat(from) ? b.CreateFPCast(value, type) : IntToFloat(b, value, type, IsSigned(from));
  return RoundToType(b, converted, to, traits);
}

}  // namespace hone::codegen
