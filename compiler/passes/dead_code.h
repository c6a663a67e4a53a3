#ifndef HONE_COMPILER_PASSES_DEAD_CODE_H_
#define HONE_COMPILER_PASSES_DEAD_CODE_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Removes functions that main does not reach and lets whose variable is not used. (A graph has no
// unused nodes: it is what its result reaches.)
absl::StatusOr<ir::Module> DeadCode(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_DEAD_CODE_H_
