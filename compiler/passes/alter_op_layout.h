#ifndef HONE_COMPILER_PASSES_ALTER_OP_LAYOUT_H_
#define HONE_COMPILER_PASSES_ALTER_OP_LAYOUT_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Gives every primitive function its layout signature (attribute "signature", ir::LayoutSignature
// without constants) and inserts layout_transform kernels where a consumer needs another layout
// than its producer gives. Inputs and outputs of main stay row-major. If main has the attribute
// ends="free", copies of them into other layouts count as no time, so that kernels get the layouts
// that they would have next to kernels that read and write any layout. Benchmarks of kernels use
// this.
absl::StatusOr<ir::Module> AlterOpLayout(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_ALTER_OP_LAYOUT_H_
