#ifndef HONE_COMPILER_PASSES_INLINE_FUNCTIONS_H_
#define HONE_COMPILER_PASSES_INLINE_FUNCTIONS_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Replaces lets by shared nodes and calls of functions by the functions' bodies, also for functions
// that are passed as values. Main is then a graph of operators and ifs. kInvalidArgument if a
// function calls itself or is known only at run time. The kernels of a module that was already
// fused are dissolved; FuseOps makes new ones.
absl::StatusOr<ir::Module> InlineFunctions(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_INLINE_FUNCTIONS_H_
