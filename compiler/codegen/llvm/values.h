// How values of Hone's element types look to LLVM: in registers and in memory.
//
// In registers a bool is an i1 and float16 and bfloat16 are floats that were rounded to their type
// after each operation; in memory they are i8 and i16. A value is a scalar, or a vector of one
// element a lane.
#ifndef HONE_COMPILER_CODEGEN_LLVM_VALUES_H_
#define HONE_COMPILER_CODEGEN_LLVM_VALUES_H_

#include "compiler/ir/cpu_target.h"
#include "llvm/IR/IRBuilder.h"
#include "runtime/data_type.h"

namespace hone::codegen {

using Builder = llvm::IRBuilder<>;

// What instruction selection can do well on a target.
struct CpuTraits {
  bool half_conversions = false;  // float <-> half by instructions, no library calls
  bool roundings = true;          // to whole numbers, by instructions
  bool fuses = true;              // multiplications with additions, rounding once
  bool nan_min_max = false;       // minimum and maximum that propagate NaN are one instruction
  bool saturating_casts = false;  // vectors of floats become integers that saturate, NaN to 0
  // Dot products of bytes in 32-bit lanes: x86's of 64 bytes and of 32 and 16, AArch64's of factors
  // of one kind and of an unsigned and a signed one.
  bool vnni_512 = false;
  bool vnni = false;
  bool arm_dot = false;
  bool arm_mixed_dot = false;
  // Dot products of pairs of bfloat16, and rounding to it: x86's of 64 bytes and of 32 and 16,
  // AArch64's.
  bool bfloat16_512 = false;
  bool bfloat16 = false;
  bool arm_bfloat16 = false;
  // Products of tile registers, of pairs of bfloat16 and of fours of bytes.
  bool tile_bfloat16 = false;
  bool tile_bytes = false;
  bool multiplies_by_element = false;  // one lane of a vector with all of another
  bool x86 = false;
  bool avx = false;        // x86's vectors of 32 bytes
  bool avx512 = false;     // and of 64
  bool avx512_dq = false;  // with what "dq" adds
  int vector_bytes = 16;   // of the widest register
  int pair_sum_bytes = 0;  // widest x86 vector that sums products of pairs of 16-bit numbers

  static CpuTraits Of(const CpuTarget& target);
};

llvm::Type* RegisterType(llvm::LLVMContext& context, DataType dtype);
llvm::Type* MemoryType(llvm::LLVMContext& context, DataType dtype);
bool IsSigned(DataType dtype);
// The alignment of elements of a type in memory.
llvm::Align AlignOfElement(const llvm::Type* element);

// 1 for a scalar.
int LanesOf(const llvm::Type* type);
inline int LanesOf(const llvm::Value* value) { return LanesOf(value->getType()); }
// `scalar` itself for one lane.
llvm::Type* Widen(llvm::Type* scalar, int lanes);
// The type with other elements and as many lanes.
llvm::Type* WithElements(const llvm::Type* like, llvm::Type* element);
// A scalar repeated; a vector of `lanes` comes back as it is.
llvm::Value* Splat(Builder& b, llvm::Value* value, int lanes);
// Brings both to the same number of lanes.
void Match(Builder& b, llvm::Value*& x, llvm::Value*& y);

llvm::Value* FromMemory(Builder& b, llvm::Value* stored, DataType dtype, const CpuTraits& traits);
llvm::Value* ToMemory(Builder& b, llvm::Value* value, DataType dtype, const CpuTraits& traits);
// The nearest value of float16 or bfloat16, ties to even; the value itself for other types.
llvm::Value* RoundToType(Builder& b, llvm::Value* value, DataType dtype, const CpuTraits& traits);
llvm::Value* EmitCast(Builder& b, llvm::Value* value, DataType from, DataType to,
                      const CpuTraits& traits);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_VALUES_H_
