// A rule of CanonicalizeOps: axes of one index behind that of a softmax are left out.
#ifndef HONE_COMPILER_PASSES_UNIT_AXES_H_
#define HONE_COMPILER_PASSES_UNIT_AXES_H_

#include "compiler/ir/expr.h"

namespace hone::passes {

// The softmax (or log_softmax) along the last axis of a reshaped tensor that the call is, its
// result reshaped: kernels of rows are looked for at the last axis. nullptr: there are no such
// axes.
ir::Expr SoftmaxWithoutUnitAxes(const ir::Expr& node);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_UNIT_AXES_H_
