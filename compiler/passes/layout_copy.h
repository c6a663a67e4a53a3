// Makes kernels with signatures, and kernels that copy a tensor into another layout.
#ifndef HONE_COMPILER_PASSES_LAYOUT_COPY_H_
#define HONE_COMPILER_PASSES_LAYOUT_COPY_H_

#include "compiler/ir/expr.h"
#include "compiler/ir/workload.h"

namespace hone::passes {

// The primitive function with the attribute "signature" set.
ir::Expr WithSignature(const ir::Expr& function, const ir::LayoutSignature& signature);

// The kernel that copies a tensor of this type; primitive, with its signature, {from} to {to}.
ir::Expr CopyKernel(const ir::Type& type, const Layout& from, const Layout& to);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_LAYOUT_COPY_H_
