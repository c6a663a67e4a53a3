#ifndef HONE_COMPILER_PASSES_SIMPLIFY_INFERENCE_H_
#define HONE_COMPILER_PASSES_SIMPLIFY_INFERENCE_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// nn.batch_norm becomes a multiplication and an addition per channel (their factors are constant
// expressions where the statistics are constants); nn.dropout and copy become their operand.
absl::StatusOr<ir::Module> SimplifyInference(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_SIMPLIFY_INFERENCE_H_
