#ifndef HONE_COMPILER_PASSES_CANONICALIZE_OPS_H_
#define HONE_COMPILER_PASSES_CANONICALIZE_OPS_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Brings graphs into one canonical form: nn.bias_add becomes the add of a reshaped bias; constants
// become the right operands of commutative operators; nn.pad becomes padding of the windows that
// read it; transposed convolutions over one pixel become dense layers; axes of extent 1 after that
// of a softmax are reshaped away; products of two variable matrices become nn.batch_matmul with a
// batch of one.
absl::StatusOr<ir::Module> CanonicalizeOps(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_CANONICALIZE_OPS_H_
