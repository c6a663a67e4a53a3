// The skeleton of a model: what it is without its weights.
#ifndef HONE_COMPILER_PASSES_SKELETON_H_
#define HONE_COMPILER_PASSES_SKELETON_H_

#include <string>

#include "compiler/ir/expr.h"

namespace hone::passes {

// SHA-256, in hex, of a function after FuseOps: its kernels' workloads in execution order, what
// each reads (a parameter, a constant of some type, another kernel's result), and what the function
// returns. Models with equal skeletons have the same kernels in the same places, whatever their
// weights and names. The skeleton includes the functions of repeats, which are looked up in
// `module`.
std::string SkeletonOf(const ir::Expr& function, const ir::Module& module = {});

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_SKELETON_H_
