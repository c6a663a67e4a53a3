#include "compiler/passes/layout_assignment.h"

#include <algorithm>
#include <utility>

namespace hone::passes {

LayoutAssignment::LayoutAssignment(const LayoutProblem& problem)
    : problem_(problem), choice_(problem.kernels.size(), -1) {
  for (const LayoutValue& value : problem.values) {
    lies_in_.push_back(value.fixed);
    reads_.emplace_back(static_cast<size_t>(value.layouts), 0);
    for (int layout : value.readers) ++reads_.back()[static_cast<size_t>(layout)];
  }
}

void LayoutAssignment::Take(size_t kernel, int option) {
  choice_[kernel] = option;
  Count(kernel, option, 1);
}

void LayoutAssignment::Drop(size_t kernel) {
  Count(kernel, std::exchange(choice_[kernel], -1), -1);
}

void LayoutAssignment::Count(size_t k, int option, int by) {
  const LayoutKernel& kernel = problem_.kernels[k];
  const LayoutOption& chosen = kernel.options[static_cast<size_t>(option)];
  for (size_t i = 0; i < kernel.operands.size(); ++i) {
    reads_[static_cast<size_t>(kernel.operands[i])][static_cast<size_t>(chosen.operands[i])] += by;
  }
  if (kernel.result >= 0) lies_in_[static_cast<size_t>(kernel.result)] = chosen.result;
}

double LayoutAssignment::CopiesNs(int value) const {
  const auto v = static_cast<size_t>(value);
  double ns = 0;
  for (int to = 0; to < problem_.values[v].layouts; ++to) {
    if (reads_[v][static_cast<size_t>(to)] > 0) ns += problem_.values[v].CopyNs(lies_in_[v], to);
  }
  return ns;
}

double LayoutAssignment::NsAround(size_t k) const {
  const LayoutKernel& kernel = problem_.kernels[k];
  double ns = kernel.options[static_cast<size_t>(choice_[k])].ns;
  for (auto it = kernel.operands.begin(); it != kernel.operands.end(); ++it) {
    if (std::find(kernel.operands.begin(), it, *it) == it) ns += CopiesNs(*it);
  }
  return kernel.result < 0 ? ns : ns + CopiesNs(kernel.result);
}

}  // namespace hone::passes
