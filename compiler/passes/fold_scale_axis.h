#ifndef HONE_COMPILER_PASSES_FOLD_SCALE_AXIS_H_
#define HONE_COMPILER_PASSES_FOLD_SCALE_AXIS_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// A multiplication per output channel after a convolution or dense layer moves into constant
// weights (through a constant bias, if there is one), and constants added one after the other
// become one. Only where nothing else uses the values between.
absl::StatusOr<ir::Module> FoldScaleAxis(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_FOLD_SCALE_AXIS_H_
