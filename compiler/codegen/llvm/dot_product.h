// Emits dot products of four bytes or two bfloat16 in 32-bit lanes, with the target's instructions
// for them.
#ifndef HONE_COMPILER_CODEGEN_LLVM_DOT_PRODUCT_H_
#define HONE_COMPILER_CODEGEN_LLVM_DOT_PRODUCT_H_

#include "compiler/codegen/llvm/values.h"

namespace hone::codegen {

// Four bytes or two bfloat16, packed in each 32-bit lane; the first is in the lowest bits.
struct PackedFactor {
  llvm::Value* value = nullptr;  // i32, or a vector of it
  DataType dtype = DataType::kInt8;
};

// sum + x0 * y0 + x1 * y1 + ... in each lane. Bytes are summed in int32, which wraps around,
// bfloat16 in float32. Each factor has as many lanes as `sum`, or one that is broadcast.
llvm::Value* EmitDotProduct(Builder& b, llvm::Value* sum, PackedFactor x, PackedFactor y,
                            const TargetTraits& traits);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_DOT_PRODUCT_H_
