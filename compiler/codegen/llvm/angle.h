// Angles brought to a quarter of a turn, of any double: what sine, cosine and tangent begin with.
#ifndef HONE_COMPILER_CODEGEN_LLVM_ANGLE_H_
#define HONE_COMPILER_CODEGEN_LLVM_ANGLE_H_

#include "compiler/codegen/llvm/values.h"

namespace hone::codegen {

// x = quadrant * pi / 2 + rest with |rest| <= pi / 4 and a little. Of the quadrant, as a double's
// integers, only the last two bits mean something.
struct ReducedAngle {
  llvm::Value* rest;
  llvm::Value* quadrant;
};

// It takes doubles, scalar or vector; the rest is within 2^-52 of itself, and NaN where x is not
// finite. Large angles, which are rare, take a branch to a function of the module.
ReducedAngle ReduceAngle(Builder& b, llvm::Value* x, const CpuTraits& traits);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_ANGLE_H_
