#ifndef HONE_COMPILER_PASSES_SPARSIFY_CONSTANTS_H_
#define HONE_COMPILER_PASSES_SPARSIFY_CONSTANTS_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Turns an nn.dense with a constant operand of mostly zeros into an nn.sparse_dense with that
// operand in CSR, if that is predicted to be faster (docs/passes.md has the rule). All numbers are
// assumed to be finite: a zero that is not stored is not multiplied by an infinity or NaN.
absl::StatusOr<ir::Module> SparsifyConstants(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_SPARSIFY_CONSTANTS_H_
