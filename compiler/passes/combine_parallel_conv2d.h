#ifndef HONE_COMPILER_PASSES_COMBINE_PARALLEL_CONV2D_H_
#define HONE_COMPILER_PASSES_COMBINE_PARALLEL_CONV2D_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Three or more nn.conv2d of the same data, with constant weights of equal taps and equal
// attributes, become one whose channels are those of all together. It reads the data once and has
// more channels to block. Grouped convolutions are left as they are.
absl::StatusOr<ir::Module> CombineParallelConv2D(const ir::Module& module,
                                                 const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_COMBINE_PARALLEL_CONV2D_H_
