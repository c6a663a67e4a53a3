// Finds the cheapest layouts for all kernels of a graph together.
#ifndef HONE_COMPILER_PASSES_LAYOUT_CHOICE_H_
#define HONE_COMPILER_PASSES_LAYOUT_CHOICE_H_

#include "compiler/passes/layout_problem.h"

namespace hone::passes {

struct ChosenLayouts {
  LayoutChoice choice;
  // Whether the choice is known to have the least total; otherwise it is no worse than the greedy
  // choice.
  bool is_exact = false;
};
// docs/decisions/0007 has the algorithm. Deterministic; among equal costs the preferred options
// win.
ChosenLayouts ChooseLayouts(const LayoutProblem& problem);

// Chooses kernel by kernel in execution order: the option that is cheapest together with the copies
// for its operands, and for readers that cannot read its result.
LayoutChoice ChooseGreedily(const LayoutProblem& problem);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_LAYOUT_CHOICE_H_
