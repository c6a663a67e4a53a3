// Emits the operators of loop-nest expressions, with the meaning that compiler/loop/expr.h gives
// them. The operands of one operator have the same dtype and any number of lanes; a scalar is
// broadcast.
#ifndef HONE_COMPILER_CODEGEN_LLVM_ARITHMETIC_H_
#define HONE_COMPILER_CODEGEN_LLVM_ARITHMETIC_H_

#include "compiler/codegen/llvm/values.h"
#include "compiler/loop/expr.h"

namespace hone::codegen {

llvm::Value* EmitUnary(Builder& b, loop::UnaryOp op, llvm::Value* x, DataType dtype,
                       const TargetTraits& traits);
// `non_negative` says that both operands are known not to be negative, which makes divisions cheap.
llvm::Value* EmitBinary(Builder& b, loop::BinaryOp op, llvm::Value* x, llvm::Value* y,
                        DataType dtype, const TargetTraits& traits, bool non_negative = false);
// x * y + z for floats; fused if the target can do that.
llvm::Value* EmitMulAdd(Builder& b, llvm::Value* x, llvm::Value* y, llvm::Value* z);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_ARITHMETIC_H_
