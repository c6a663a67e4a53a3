#ifndef HONE_COMPILER_PASSES_ALTER_OP_LAYOUT_H_
#define HONE_COMPILER_PASSES_ALTER_OP_LAYOUT_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Gives every primitive function its layout signature (attribute "signature", ir::LayoutSignature
// without constants) and inserts layout_transform kernels where a consumer needs another layout
// than its producer gives. Inputs and outputs of main stay row-major; where main has the attribute
// ends="free", copying them counts as no time: the layouts are those that kernels would have among
// neighbours that take any. For benchmarks of kernels.
absl::StatusOr<ir::Module> AlterOpLayout(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_ALTER_OP_LAYOUT_H_
