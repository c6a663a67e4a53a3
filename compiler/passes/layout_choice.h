// The cheapest layouts for all kernels of a graph at once.
#ifndef HONE_COMPILER_PASSES_LAYOUT_CHOICE_H_
#define HONE_COMPILER_PASSES_LAYOUT_CHOICE_H_

#include "compiler/passes/layout_problem.h"

namespace hone::passes {

struct ChosenLayouts {
  LayoutChoice choice;
  bool is_exact = false;  // known to be the least total; else no worse than the greedy choice
};
// docs/decisions/0007 has the algorithm. Deterministic; among equals preferred options.
ChosenLayouts ChooseLayouts(const LayoutProblem& problem);

// Kernel by kernel in execution order: the cheapest option with the copies it needs for operands,
// and for readers that cannot read its result.
LayoutChoice ChooseGreedily(const LayoutProblem& problem);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_LAYOUT_CHOICE_H_
