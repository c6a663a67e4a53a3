#ifndef HONE_COMPILER_PASSES_SIMPLIFY_INFERENCE_H_
#define HONE_COMPILER_PASSES_SIMPLIFY_INFERENCE_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Replaces nn.batch_norm by a multiplication and an addition per channel, whose operands are
// constant expressions if the statistics are constants, and nn.dropout and copy by their operand.
absl::StatusOr<ir::Module> SimplifyInference(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_SIMPLIFY_INFERENCE_H_
