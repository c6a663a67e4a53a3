#ifndef HONE_COMPILER_PASSES_SELECT_BRANCHES_H_
#define HONE_COMPILER_PASSES_SELECT_BRANCHES_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Replaces an if by a selection between the results of both branches. Operators have no side
// effects and are total (division by zero included), so computing the branch that is not taken only
// costs time. The sequence of kernels thus stays fixed, which the memory plan and the executor rely
// on.
absl::StatusOr<ir::Module> SelectBranches(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_SELECT_BRANCHES_H_
