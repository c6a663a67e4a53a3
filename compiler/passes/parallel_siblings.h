// What CombineParallelConv2D and CombineParallelDense share.
#ifndef HONE_COMPILER_PASSES_PARALLEL_SIBLINGS_H_
#define HONE_COMPILER_PASSES_PARALLEL_SIBLINGS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "compiler/ir/expr.h"

namespace hone::passes {

// An operator of (data, weight) whose weights, stacked along their first axis, stack its results
// along `channel_axis`.
struct Stackable {
  std::string op;
  int64_t channel_axis = 1;  // of the result
  // Whether this call of the operator is so.
  std::function<bool(const ir::ExprNode& call)> is_stackable;
};

// At least `min_siblings` calls that read the same data with constant weights of equal shapes but
// for their first axis become one call, each result a slice of the combined one. Elementwise
// operators behind all of them alike (one operand constants per channel at most) are combined, too.
ir::Expr CombineSiblings(const ir::Expr& function, const Stackable& stackable, int min_siblings);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_PARALLEL_SIBLINGS_H_
