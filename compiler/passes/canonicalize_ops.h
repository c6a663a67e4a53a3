#ifndef HONE_COMPILER_PASSES_CANONICALIZE_OPS_H_
#define HONE_COMPILER_PASSES_CANONICALIZE_OPS_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// One way to write each thing: nn.bias_add becomes the add of a reshaped bias; constants stand
// right of commutative operators; nn.pad becomes padding of the windows that read it; transposed
// convolutions over one pixel become dense layers; a softmax has no axes of one index behind its
// own; products of two variable matrices are stacks of one.
absl::StatusOr<ir::Module> CanonicalizeOps(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_CANONICALIZE_OPS_H_
