// A choice of layouts while it is being made, with the layouts that each value is read in so far.
#ifndef HONE_COMPILER_PASSES_LAYOUT_ASSIGNMENT_H_
#define HONE_COMPILER_PASSES_LAYOUT_ASSIGNMENT_H_

#include <cstddef>
#include <vector>

#include "compiler/passes/layout_problem.h"

namespace hone::passes {

// The options chosen so far for the kernels of a problem. The problem outlives it. A kernel without
// an option counts as reading nothing.
class LayoutAssignment {
 public:
  explicit LayoutAssignment(const LayoutProblem& problem);

  void Take(size_t kernel, int option);
  void Drop(size_t kernel);
  const LayoutChoice& choice() const { return choice_; }  // -1: none

  // The nanoseconds that the copies of one value take.
  double CopiesNs(int value) const;
  // The nanoseconds of a kernel that has an option, including the copies of what it reads and
  // writes.
  double NsAround(size_t kernel) const;

 private:
  void Count(size_t kernel, int option, int by);

  const LayoutProblem& problem_;
  LayoutChoice choice_;
  std::vector<int> lies_in_;             // the layout of each value
  std::vector<std::vector<int>> reads_;  // for each value, the number of readers by layout
};

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_LAYOUT_ASSIGNMENT_H_
