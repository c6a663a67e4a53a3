#ifndef HONE_COMPILER_PASSES_SELECT_BRANCHES_H_
#define HONE_COMPILER_PASSES_SELECT_BRANCHES_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// An if becomes the selection between the results of both its branches. Operators have no effects
// and are total (division by zero included), so computing the branch that is not taken costs time
// only; the sequence of kernels stays fixed, which memory plan and executor rest on.
absl::StatusOr<ir::Module> SelectBranches(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_SELECT_BRANCHES_H_
