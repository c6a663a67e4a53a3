// Dot products of four bytes or two bfloat16 in 32-bit lanes, in the instructions a target has for
// them.
#ifndef HONE_COMPILER_CODEGEN_LLVM_DOT_PRODUCT_H_
#define HONE_COMPILER_CODEGEN_LLVM_DOT_PRODUCT_H_

#include "compiler/codegen/llvm/values.h"

namespace hone::codegen {

// Four bytes packed in each 32-bit lane, or two bfloat16, the first lowest.
struct PackedFactor {
  llvm::Value* value = nullptr;  // i32, or a vector of it
  DataType dtype = DataType::kInt8;
};

// sum + a0 * b0 + a1 * b1 + .. in each lane: of bytes in int32, wrapping around; of bfloat16 in
// float32. `sum` has the lanes; the factors have as many, or one for all.
llvm::Value* EmitDotProduct(Builder& b, llvm::Value* sum, PackedFactor x, PackedFactor y,
                            const CpuTraits& traits);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_DOT_PRODUCT_H_
