#include "compiler/codegen/llvm/dot_product.h"

#include <utility>
#include <vector>

#include "compiler/codegen/llvm/arithmetic.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsAArch64.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace hone::codegen {
namespace {

namespace Intrinsic = llvm::Intrinsic;
using llvm::Value;

// x86's instruction takes one unsigned factor and one signed one.
Value* EmitVnni(Builder& b, Value* sum, Value* unsigned_bytes, Value* signed_bytes) {
  Intrinsic::ID id = Intrinsic::x86_avx512_vpdpbusd_512;
  if (LanesOf(sum) == 8) id = Intrinsic::x86_avx512_vpdpbusd_256;
  if (LanesOf(sum) == 4) id = Intrinsic::x86_avx512_vpdpbusd_128;
  return b.CreateIntrinsic(id, {}, {sum, unsigned_bytes, signed_bytes});
}

bool HasVnni(int lanes, const TargetTraits& traits) {
  return (lanes == 16 && traits.vnni_512) || ((lanes == 8 || lanes == 4) && traits.vnni);
}

// AArch64's take two factors of one kind, or, with i8mm, an unsigned and a signed one.
Value* EmitArm(Builder& b, Value* sum, PackedFactor x, PackedFactor y) {
  Intrinsic::ID id =
      IsSigned(x.dtype) ? Intrinsic::aarch64_neon_sdot : Intrinsic::aarch64_neon_udot;
  if (IsSigned(x.dtype) != IsSigned(y.dtype)) {
    id = Intrinsic::aarch64_neon_usdot;
    if (IsSigned(x.dtype)) std::swap(x, y);
  }
  llvm::Type* bytes = Widen(b.getInt8Ty(), 16);
  return b.CreateIntrinsic(id, {sum->getType(), bytes},
                           {sum, b.CreateBitCast(x.value, bytes), b.CreateBitCast(y.value, bytes)});
}

bool HasArm(int lanes, PackedFactor x, PackedFactor y, const TargetTraits& traits) {
  return lanes == 4 &&
         (IsSigned(x.dtype) == IsSigned(y.dtype) ? traits.arm_dot : traits.arm_mixed_dot);
}

// The even or the odd bytes, widened to 16 bits.
Value* Halves(Builder& b, PackedFactor x, int lanes, bool odd) {
  llvm::Type* type = Widen(b.getInt16Ty(), 2 * lanes);
  Value* pairs = b.CreateBitCast(x.value, type);
  if (odd) return IsSigned(x.dtype) ? b.CreateAShr(pairs, 8) : b.CreateLShr(pairs, 8);
  if (!IsSigned(x.dtype)) return b.CreateAnd(pairs, llvm::ConstantInt::get(type, 0xFF));
  return b.CreateAShr(b.CreateShl(pairs, 8), 8);
}

Intrinsic::ID PairSum(int lanes, const TargetTraits& traits) {
  if (lanes == 4 && traits.pair_sum_bytes >= 16) return Intrinsic::x86_sse2_pmadd_wd;
  if (lanes == 8 && traits.pair_sum_bytes >= 32) return Intrinsic::x86_avx2_pmadd_wd;
  if (lanes == 16 && traits.pair_sum_bytes >= 64) return Intrinsic::x86_avx512_pmaddw_d_512;
  return Intrinsic::not_intrinsic;
}

Value* EmitPairSums(Builder& b, Intrinsic::ID id, Value* sum, PackedFactor x, PackedFactor y) {
  const int lanes = LanesOf(sum);
  for (const bool odd : {false, true}) {
    Value* pairs = b.CreateIntrinsic(id, {}, {Halves(b, x, lanes, odd), Halves(b, y, lanes, odd)});
    sum = b.CreateAdd(sum, pairs);
  }
  return sum;
}

// Byte `k` of each lane.
Value* Byte(Builder& b, PackedFactor x, int k) {
  Value* high = k == 3 ? x.value : b.CreateShl(x.value, 24 - 8 * k);
  return IsSigned(x.dtype) ? b.CreateAShr(high, 24) : b.CreateLShr(high, 24);
}

Value* EmitBytes(Builder& b, Value* sum, PackedFactor x, PackedFactor y,
                 const TargetTraits& traits) {
  const int lanes = LanesOf(sum);
  if (lanes == 1 || PairSum(lanes, traits) != Intrinsic::not_intrinsic || HasVnni(lanes, traits) ||
      HasArm(lanes, x, y, traits)) {
    x.value = Splat(b, x.value, lanes);
    y.value = Splat(b, y.value, lanes);
  }
  if (HasVnni(lanes, traits) && IsSigned(x.dtype) != IsSigned(y.dtype)) {
    if (IsSigned(x.dtype)) std::swap(x, y);
    return EmitVnni(b, sum, x.value, y.value);
  }
  if (HasArm(lanes, x, y, traits)) return EmitArm(b, sum, x, y);
  const Intrinsic::ID pairs = PairSum(lanes, traits);
  if (pairs != Intrinsic::not_intrinsic) return EmitPairSums(b, pairs, sum, x, y);
  for (int k = 0; k < 4; ++k) {
    Value* product = b.CreateMul(Splat(b, Byte(b, x, k), lanes), Splat(b, Byte(b, y, k), lanes));
    sum = b.CreateAdd(sum, product);
  }
  return sum;
}

// The instruction for pairs of bfloat16; not_intrinsic: none.
Intrinsic::ID PairInstruction(int lanes, const TargetTraits& traits) {
  if (lanes == 16 && traits.bfloat16_512) return Intrinsic::x86_avx512bf16_dpbf16ps_512;
  if (lanes == 8 && traits.bfloat16) return Intrinsic::x86_avx512bf16_dpbf16ps_256;
  if (lanes == 4 && traits.bfloat16) return Intrinsic::x86_avx512bf16_dpbf16ps_128;
  if (lanes == 4 && traits.arm_bfloat16) return Intrinsic::aarch64_neon_bfdot;
  return Intrinsic::not_intrinsic;
}

// The first or the second of each pair as a float32: its bits are the upper half.
Value* Half(Builder& b, Value* pairs, bool second) {
  Value* bits = second ? b.CreateAnd(pairs, 0xFFFF0000) : b.CreateShl(pairs, 16);
  return b.CreateBitCast(bits, WithElements(pairs->getType(), b.getFloatTy()));
}

Value* EmitBFloat16(Builder& b, Value* sum, Value* x, Value* y, const TargetTraits& traits) {
  const int lanes = LanesOf(sum);
  x = Splat(b, x, lanes);
  y = Splat(b, y, lanes);
  const Intrinsic::ID id = PairInstruction(lanes, traits);
  if (id == Intrinsic::not_intrinsic) {
    sum = EmitMulAdd(b, Half(b, x, false), Half(b, y, false), sum);
    return EmitMulAdd(b, Half(b, x, true), Half(b, y, true), sum);
  }
  llvm::Type* pairs = Widen(b.getBFloatTy(), 2 * lanes);
  std::vector<llvm::Type*> types;
  if (id == Intrinsic::aarch64_neon_bfdot) types = {sum->getType(), pairs};
  return b.CreateIntrinsic(id, types, {sum, b.CreateBitCast(x, pairs), b.CreateBitCast(y, pairs)});
}

}  // namespace

llvm::Value* EmitDotProduct(Builder& b, llvm::Value* sum, PackedFactor x, PackedFactor y,
                            const TargetTraits& traits) {
  if (x.dtype == DataType::kBFloat16) return EmitBFloat16(b, sum, x.value, y.value, traits);
  return EmitBytes(b, sum, x, y, traits);
}

}  // namespace hone::codegen
