// Dot products of four bytes in 32-bit lanes, in the instructions a target has for them.
#ifndef HONE_COMPILER_CODEGEN_LLVM_DOT_PRODUCT_H_
#define HONE_COMPILER_CODEGEN_LLVM_DOT_PRODUCT_H_

#include "compiler/codegen/llvm/values.h"

namespace hone::codegen {

// Four bytes packed in each 32-bit lane, the first lowest.
struct PackedBytes {
  llvm::Value* value = nullptr;  // i32, or a vector of it
  bool is_signed = false;
};

// sum + a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3 in each lane, wrapping around. `sum` has the lanes;
// the factors have as many, or one for all.
llvm::Value* EmitDotProduct(Builder& b, llvm::Value* sum, PackedBytes x, PackedBytes y,
                            const CpuTraits& traits);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_DOT_PRODUCT_H_
