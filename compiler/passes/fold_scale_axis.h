#ifndef HONE_COMPILER_PASSES_FOLD_SCALE_AXIS_H_
#define HONE_COMPILER_PASSES_FOLD_SCALE_AXIS_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Moves multiplications by a constant per channel, before or after a convolution or dense layer,
// into its constant weights (docs/passes.md), and merges constants that are added one after the
// other. Both are done only if nothing else uses the values between.
absl::StatusOr<ir::Module> FoldScaleAxis(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_FOLD_SCALE_AXIS_H_
