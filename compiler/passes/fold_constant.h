#ifndef HONE_COMPILER_PASSES_FOLD_CONSTANT_H_
#define HONE_COMPILER_PASSES_FOLD_CONSTANT_H_

#include "compiler/passes/pass.h"

namespace hone::passes {

// Calls of operators on constants become their results, by the evaluator of the context; an item of
// a tuple in sight becomes the field, an if on a constant its branch. A call that would grow its
// operands much is left, unless it is an operand of a product that only has wider elements.
absl::StatusOr<ir::Module> FoldConstant(const ir::Module& module, const PassContext& context);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_FOLD_CONSTANT_H_
