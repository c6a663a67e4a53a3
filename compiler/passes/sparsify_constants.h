#ifndef HONE_COMPILER_PASSES_SPARSIFY_CONSTANTS_H_
#define HONE_COMPILER_PASSES_SPARSIFY_CONSTANTS_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// A constant operand of nn.dense that is mostly zeros becomes CSR and the call nn.sparse_dense,
// where that is predicted to be faster (docs/passes.md has the rule). Finite numbers only: a zero
// that is not stored is not multiplied.
absl::StatusOr<ir::Module> SparsifyConstants(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_SPARSIFY_CONSTANTS_H_
