// How LLVM holds values of Hone's element types, in registers and in memory.
//
// In registers a bool is an i1, and float16 and bfloat16 are floats that are rounded to their type
// after each operation; in memory these are i8 and i16. A value is a scalar, or a vector with one
// element per lane.
#ifndef HONE_COMPILER_CODEGEN_LLVM_VALUES_H_
#define HONE_COMPILER_CODEGEN_LLVM_VALUES_H_

#include "compiler/ir/cpu_target.h"
#include "compiler/ir/cuda_target.h"
#include "llvm/IR/IRBuilder.h"
#include "runtime/data_type.h"

namespace hone::codegen {

using Builder = llvm::IRBuilder<>;

// What LLVM can do well with the instructions of a target.
struct TargetTraits {
  bool half_conversions = false;  // float <-> half by instructions, without library calls
  bool prefetches = true;         // by an instruction
  bool roundings = true;          // to whole numbers, by instructions
  bool fuses = true;              // multiply-add in one instruction with one rounding
  bool nan_min_max = false;       // minimum and maximum that propagate NaN are one instruction
  bool saturating_casts = false;  // casts of float vectors to integers saturate, and NaN gives 0
  // Dot products of bytes in 32-bit lanes.
  bool vnni_512 = false;       // x86, vectors of 64 bytes
  bool vnni = false;           // x86, vectors of 16 and 32 bytes
  bool arm_dot = false;        // AArch64, two signed or two unsigned factors
  bool arm_mixed_dot = false;  // AArch64, an unsigned and a signed factor
  // Dot products of pairs of bfloat16, and rounding to bfloat16.
  bool bfloat16_512 = false;  // x86, vectors of 64 bytes
  bool bfloat16 = false;      // x86, vectors of 16 and 32 bytes
  bool arm_bfloat16 = false;  // AArch64
  bool gpu_bfloat16 = false;  // NVIDIA's GPUs, rounding only
  // Products in tile registers, of pairs of bfloat16 or of four bytes each.
  bool tile_bfloat16 = false;
  bool tile_bytes = false;
  bool multiplies_by_element = false;  // multiplies all lanes of a vector by one lane of another
  bool x86 = false;
  bool avx = false;        // x86 vectors of 32 bytes
  bool avx512 = false;     // x86 vectors of 64 bytes
  bool avx512_dq = false;  // AVX-512 with the DQ extension
  int vector_bytes = 16;   // of the widest register
  int pair_sum_bytes = 0;  // widest x86 vector that sums products of pairs of 16-bit numbers

  static TargetTraits Of(const CpuTarget& target);
  static TargetTraits Of(const CudaTarget& target);
};

llvm::Type* RegisterType(llvm::LLVMContext& context, DataType dtype);
llvm::Type* MemoryType(llvm::LLVMContext& context, DataType dtype);
bool IsSigned(DataType dtype);
// The alignment of elements of a type in memory.
llvm::Align AlignOfElement(const llvm::Type* element);

// 1 for a scalar.
int LanesOf(const llvm::Type* type);
inline int LanesOf(const llvm::Value* value) { return LanesOf(value->getType()); }
// The vector type of `lanes` elements; `scalar` itself for one lane.
llvm::Type* Widen(llvm::Type* scalar, int lanes);
// The type with elements of type `element` and as many lanes as `like`.
llvm::Type* WithElements(const llvm::Type* like, llvm::Type* element);
// A scalar broadcast to `lanes`; a vector of that many lanes is returned as it is.
llvm::Value* Splat(Builder& b, llvm::Value* value, int lanes);
// Broadcasts the one that is scalar, if any, to the lanes of the other.
void Match(Builder& b, llvm::Value*& x, llvm::Value*& y);

llvm::Value* FromMemory(Builder& b, llvm::Value* stored, DataType dtype,
                        const TargetTraits& traits);
llvm::Value* ToMemory(Builder& b, llvm::Value* value, DataType dtype, const TargetTraits& traits);
// The nearest value of float16 or bfloat16, ties to even; the value itself for other types.
llvm::Value* RoundToType(Builder& b, llvm::Value* value, DataType dtype,
                         const TargetTraits& traits);
llvm::Value* EmitCast(Builder& b, llvm::Value* value, DataType from, DataType to,
                      const TargetTraits& traits);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_VALUES_H_
