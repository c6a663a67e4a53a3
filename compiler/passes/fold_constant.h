#ifndef HONE_COMPILER_PASSES_FOLD_CONSTANT_H_
#define HONE_COMPILER_PASSES_FOLD_CONSTANT_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Replaces calls of operators on constants by their results, which the evaluator of the context
// computes; an item of a tuple literal by its field; and an if on a constant by its branch. A call
// whose result is large and much larger than its operands is left, unless it is an operand of a
// product and has no more elements, only wider ones.
absl::StatusOr<ir::Module> FoldConstant(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_FOLD_CONSTANT_H_
