#ifndef HONE_COMPILER_PASSES_FUSE_OPS_H_
#define HONE_COMPILER_PASSES_FUSE_OPS_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Groups operator calls into kernels: afterwards each call of an operator lies in exactly one
// function literal with primitive=true, called by main. Operands of a kernel are tensors; constants
// of rank 1 and more are operands too, scalar constants are inside the literal. Every output of
// main is written by a kernel of its own. docs/passes.md has the rules.
absl::StatusOr<ir::Module> FuseOps(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_FUSE_OPS_H_
