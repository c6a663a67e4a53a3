// The operators of loop-nest expressions on values, as compiler/loop/expr.h defines them. Operands
// have one dtype and any number of lanes (a scalar is repeated).
#ifndef HONE_COMPILER_CODEGEN_LLVM_ARITHMETIC_H_
#define HONE_COMPILER_CODEGEN_LLVM_ARITHMETIC_H_

#include "compiler/codegen/llvm/values.h"
#include "compiler/loop/expr.h"

namespace hone::codegen {

llvm::Value* EmitUnary(Builder& b, loop::UnaryOp op, llvm::Value* x, DataType dtype,
                       const CpuTraits& traits);
// `non_negative`: both operands are known to be, which makes divisions cheap.
llvm::Value* EmitBinary(Builder& b, loop::BinaryOp op, llvm::Value* x, llvm::Value* y,
                        DataType dtype, const CpuTraits& traits, bool non_negative = false);
// x * y + z of floats, fused where the target can.
llvm::Value* EmitMulAdd(Builder& b, llvm::Value* x, llvm::Value* y, llvm::Value* z);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_ARITHMETIC_H_
