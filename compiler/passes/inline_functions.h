#ifndef HONE_COMPILER_PASSES_INLINE_FUNCTIONS_H_
#define HONE_COMPILER_PASSES_INLINE_FUNCTIONS_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Lets become sharing, and calls of functions their bodies: a graph of operators is left. Calls of
// functions that call themselves stay. Kernels of a module that was fused before are taken apart:
// FuseOps makes them anew.
absl::StatusOr<ir::Module> InlineFunctions(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_INLINE_FUNCTIONS_H_
