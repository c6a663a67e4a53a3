#ifndef HONE_COMPILER_PASSES_ELIMINATE_COMMON_SUBEXPR_H_
#define HONE_COMPILER_PASSES_ELIMINATE_COMMON_SUBEXPR_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Merges equal calls with equal operands into one node. Function literals are left as they are.
absl::StatusOr<ir::Module> EliminateCommonSubexpr(const ir::Module& module,
                                                  const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_ELIMINATE_COMMON_SUBEXPR_H_
