#include "compiler/passes/layout_problem.h"

#include "compiler/passes/layout_assignment.h"

namespace hone::passes {

double TotalNs(const LayoutProblem& problem, const LayoutChoice& choice) {
  LayoutAssignment assignment(problem);
  double ns = 0;
  for (size_t k = 0; k < choice.size(); ++k) {
    assignment.Take(k, choice[k]);
    ns += problem.kernels[k].options[static_cast<size_t>(choice[k])].ns;
  }
  for (size_t v = 0; v < problem.values.size(); ++v) ns += assignment.CopiesNs(static_cast<int>(v));
  return ns;
}

}  // namespace hone::passes
