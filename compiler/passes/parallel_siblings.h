// What CombineParallelConv2D and CombineParallelDense share.
#ifndef HONE_COMPILER_PASSES_PARALLEL_SIBLINGS_H_
#define HONE_COMPILER_PASSES_PARALLEL_SIBLINGS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "compiler/ir/expr.h"

namespace hone::passes {

// An operator of (data, weight) for which stacking weights along their first axis stacks the
// results along `channel_axis`.
struct Stackable {
  std::string op;
  int64_t channel_axis = 1;  // the axis of the result
  // Whether that holds for this call of the operator.
  std::function<bool(const ir::ExprNode& call)> is_stackable;
};

// Combines `min_siblings` or more calls that read the same data and have constant weights of shapes
// that are equal except for the first axis. Each result becomes a slice of the combined one.
// Elementwise operators that follow all of the calls alike (with at most one more operand,
// constants per channel) are combined too.
ir::Expr CombineSiblings(const ir::Expr& function, const Stackable& stackable, int min_siblings);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_PARALLEL_SIBLINGS_H_
