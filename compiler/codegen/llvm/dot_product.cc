#include "compiler/codegen/llvm/dot_product.h"

#include <utility>

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

bool HasVnni(int lanes, const CpuTraits& traits) {
  return (lanes == 16 && traits.vnni_512) || ((lanes == 8 || lanes == 4) && traits.vnni);
}

// AArch64's take two factors of one kind, or, with i8mm, an unsigned and a signed one.
Value* EmitArm(Builder& b, Value* sum, PackedBytes x, PackedBytes y) {
  Intrinsic::ID id = x.is_signed ? Intrinsic::aarch64_neon_sdot : Intrinsic::aarch64_neon_udot;
  if (x.is_signed != y.is_signed) {
    id = Intrinsic::aarch64_neon_usdot;
    if (x.is_signed) std::swap(x, y);
  }
  llvm::Type* bytes = Widen(b.getInt8Ty(), 16);
  return b.CreateIntrinsic(id, {sum->getType(), bytes},
                           {sum, b.CreateBitCast(x.value, bytes), b.CreateBitCast(y.value, bytes)});
}

bool HasArm(int lanes, PackedBytes x, PackedBytes y, const CpuTraits& traits) {
  return lanes == 4 && (x.is_signed == y.is_signed ? traits.arm_dot : traits.arm_mixed_dot);
}

// The even or the odd bytes, widened to 16 bits.
Value* Halves(Builder& b, PackedBytes x, int lanes, bool odd) {
  llvm::Type* type = Widen(b.getInt16Ty(), 2 * lanes);
  Value* pairs = b.CreateBitCast(x.value, type);
  if (odd) return x.is_signed ? b.CreateAShr(pairs, 8) : b.CreateLShr(pairs, 8);
  if (!x.is_signed) return b.CreateAnd(pairs, llvm::ConstantInt::get(type, 0xFF));
  return b.CreateAShr(b.CreateShl(pairs, 8), 8);
}

Intrinsic::ID PairSum(int lanes, const CpuTraits& traits) {
  if (lanes == 4 && traits.pair_sum_bytes >= 16) return Intrinsic::x86_sse2_pmadd_wd;
  if (lanes == 8 && traits.pair_sum_bytes >= 32) return Intrinsic::x86_avx2_pmadd_wd;
  if (lanes == 16 && traits.pair_sum_bytes >= 64) return Intrinsic::x86_avx512_pmaddw_d_512;
  return Intrinsic::not_intrinsic;
}

Value* EmitPairSums(Builder& b, Intrinsic::ID id, Value* sum, PackedBytes x, PackedBytes y) {
  const int lanes = LanesOf(sum);
  for (const bool odd : {false, true}) {
    Value* pairs = b.CreateIntrinsic(id, {}, {Halves(b, x, lanes, odd), Halves(b, y, lanes, odd)});
    sum = b.CreateAdd(sum, pairs);
  }
  return sum;
}

// Byte `k` of each lane.
Value* Byte(Builder& b, PackedBytes x, int k) {
  Value* high = k == 3 ? x.value : b.CreateShl(x.value, 24 - 8 * k);
  return x.is_signed ? b.CreateAShr(high, 24) : b.CreateLShr(high, 24);
}

}  // namespace

llvm::Value* EmitDotProduct(Builder& b, llvm::Value* sum, PackedBytes x, PackedBytes y,
                            const CpuTraits& traits) {
  const int lanes = LanesOf(sum);
  if (lanes == 1 || PairSum(lanes, traits) != Intrinsic::not_intrinsic || HasVnni(lanes, traits) ||
      HasArm(lanes, x, y, traits)) {
    x.value = Splat(b, x.value, lanes);
    y.value = Splat(b, y.value, lanes);
  }
  if (HasVnni(lanes, traits) && x.is_signed != y.is_signed) {
    if (x.is_signed) std::swap(x, y);
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

}  // namespace hone::codegen
