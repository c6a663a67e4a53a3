// A rule of CanonicalizeOps: axes of extent 1 after that of a softmax are reshaped away.
#ifndef HONE_COMPILER_PASSES_UNIT_AXES_H_
#define HONE_COMPILER_PASSES_UNIT_AXES_H_

#include "compiler/ir/expr.h"

namespace hone::passes {

// An equal softmax (or log_softmax) along the last axis of the reshaped operand, with its result
// reshaped, because the template `rows` takes the last axis only. nullptr if there are no such
// axes.
ir::Expr SoftmaxWithoutUnitAxes(const ir::Expr& node);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_UNIT_AXES_H_
