// Reduces angles to an eighth of a turn on both sides of zero: the first step of sine, cosine and
// tangent.
#ifndef HONE_COMPILER_CODEGEN_LLVM_ANGLE_H_
#define HONE_COMPILER_CODEGEN_LLVM_ANGLE_H_

#include "compiler/codegen/llvm/values.h"

namespace hone::codegen {

// x = quadrant * pi / 2 + rest with |rest| at most slightly above pi / 4. `quadrant` is a 64-bit
// integer of which only the last two bits are meaningful.
struct ReducedAngle {
  llvm::Value* rest;
  llvm::Value* quadrant;
};

// `x` is any double, scalar or vector. The relative error of the rest is at most 2^-52; the rest is
// NaN if x is not finite. Large angles, which are rare, branch to a function in the module.
ReducedAngle ReduceAngle(Builder& b, llvm::Value* x, const TargetTraits& traits);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_ANGLE_H_
