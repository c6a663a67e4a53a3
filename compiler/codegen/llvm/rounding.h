// Rounds to whole numbers on processors that have no instruction for it (x86 before SSE4.1). LLVM
// would call the C library there, and modules are not linked with it.
#ifndef HONE_COMPILER_CODEGEN_LLVM_ROUNDING_H_
#define HONE_COMPILER_CODEGEN_LLVM_ROUNDING_H_

#include "llvm/IR/Module.h"

namespace hone::codegen {

// Replaces the module's floor, ceil, trunc and rint, of floats and doubles, scalars and vectors, by
// additions and comparisons, with bit-identical results (rint: to nearest, ties to even).
void ExpandRoundings(llvm::Module& module);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_LLVM_ROUNDING_H_
