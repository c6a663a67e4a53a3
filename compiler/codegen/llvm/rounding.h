// Roundings to whole numbers for processors that have no instruction for them (x86 before SSE4.1):
// LLVM would call the C library, which modules are not linked with.
#ifndef HONE_COMPILER_CODEGEN_LLVM_ROUNDING_H_
#define HONE_COMPILER_CODEGEN_LLVM_ROUNDING_H_

#include "llvm/IR/Module.h"

namespace hone::codegen {

// Replaces the module's floor, ceil, trunc and rint, of floats and doubles, scalars and vectors, by
// additions and comparisons, with the same results bit by bit (rint: to nearest, ties to even).
void ExpandRoundings(llvm::Module& module);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_ROUNDING_H_
