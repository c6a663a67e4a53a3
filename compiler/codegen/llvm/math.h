// Elementary functions as straight-line IR, so that kernels need no libm and can be vectorised.
// Arguments are float or double, scalar or vector. Results are within a few units in the last place
// (for double: relative error below 1e-13), with infinities and NaN as in libm. Only sin, cos and
// tan of large angles branch.
#ifndef HONE_COMPILER_CODEGEN_LLVM_MATH_H_
#define HONE_COMPILER_CODEGEN_LLVM_MATH_H_

#include "compiler/codegen/llvm/values.h"
#include "compiler/loop/expr.h"

namespace hone::codegen {

// `op` is one of kExp to kSigmoid or kSin to kAtanh.
llvm::Value* EmitMath(Builder& b, loop::UnaryOp op, llvm::Value* x,
                      const TargetTraits& traits = {});
// exp(x), but 0 if x < least. exp(least) must be at least twice the smallest normal number, so that
// no intermediate result is subnormal: many processors take as long for one as for a hundred
// operations.
llvm::Value* EmitExpAbove(Builder& b, llvm::Value* x, double least,
                          const TargetTraits& traits = {});
// Whether `least` meets that condition for the float type `dtype`.
bool MayBeLeastOfExp(double least, DataType dtype);
llvm::Value* EmitPow(Builder& b, llvm::Value* x, llvm::Value* y);
// The remainder of x / y rounded towards zero, with the sign of x. It is exact, and emits a loop.
llvm::Value* EmitFmod(Builder& b, llvm::Value* x, llvm::Value* y, const TargetTraits& traits);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_MATH_H_
