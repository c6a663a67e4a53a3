// Elementary functions as straight-line IR, so that kernels need no libm and vectorise: arguments
// are float or double, scalar or vector. Within a few units in the last place of the type (double:
// relative error below 1e-13), infinities and NaN as libm has them. Only sin, cos and tan of large
// angles branch.
#ifndef HONE_COMPILER_CODEGEN_LLVM_MATH_H_
#define HONE_COMPILER_CODEGEN_LLVM_MATH_H_

#include "compiler/codegen/llvm/values.h"
#include "compiler/loop/expr.h"

namespace hone::codegen {

// kExp to kSigmoid and kSin to kAtanh.
llvm::Value* EmitMath(Builder& b, loop::UnaryOp op, llvm::Value* x, const CpuTraits& traits = {});
// exp(x), and 0 where x < least, where exp(least) is at least twice the least normal number:
// nothing underflows on the way, which takes many processors as long as a hundred operations.
llvm::Value* EmitExpAbove(Builder& b, llvm::Value* x, double least, const CpuTraits& traits = {});
// Whether `least` is one of those, of floats of the type.
bool MayBeLeastOfExp(double least, DataType dtype);
llvm::Value* EmitPow(Builder& b, llvm::Value* x, llvm::Value* y);
// The remainder of a / b rounded towards zero, with the sign of a: exact, by a loop of its own.
llvm::Value* EmitFmod(Builder& b, llvm::Value* x, llvm::Value* y, const CpuTraits& traits);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_MATH_H_
