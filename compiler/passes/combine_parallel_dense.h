#ifndef HONE_COMPILER_PASSES_COMBINE_PARALLEL_DENSE_H_
#define HONE_COMPILER_PASSES_COMBINE_PARALLEL_DENSE_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Three or more nn.dense of the same data with constant weights become one whose units are those of
// all together, as for the queries, keys and values of attention.
absl::StatusOr<ir::Module> CombineParallelDense(const ir::Module& module,
                                                const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_COMBINE_PARALLEL_DENSE_H_
