#ifndef HONE_COMPILER_PASSES_INLINE_FUNCTIONS_H_
#define HONE_COMPILER_PASSES_INLINE_FUNCTIONS_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Lets become sharing, and calls of functions their bodies, functions that are passed as values
// included: in main a graph of operators and ifs is left. kInvalidArgument: a function calls
// itself, or is known only at run time. Kernels of a module that was fused before are taken apart:
// FuseOps makes them anew.
absl::StatusOr<ir::Module> InlineFunctions(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_INLINE_FUNCTIONS_H_
