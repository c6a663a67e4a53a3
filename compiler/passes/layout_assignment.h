// A choice of layouts while it is made: what each value is read in so far.
#ifndef HONE_COMPILER_PASSES_LAYOUT_ASSIGNMENT_H_
#define HONE_COMPILER_PASSES_LAYOUT_ASSIGNMENT_H_

#include <cstddef>
#include <vector>

#include "compiler/passes/layout_problem.h"

namespace hone::passes {

// What each kernel of a problem has chosen. The problem outlives it. Kernels that have not chosen
// read nothing.
class LayoutAssignment {
 public:
  explicit LayoutAssignment(const LayoutProblem& problem);

  void Take(size_t kernel, int option);
  void Drop(size_t kernel);
  const LayoutChoice& choice() const { return choice_; }  // -1: none

  // What the copies of one value take.
  double CopiesNs(int value) const;
  // What a kernel that has chosen takes, with the copies of what it reads and writes.
  double NsAround(size_t kernel) const;

 private:
  void Count(size_t kernel, int option, int by);

  const LayoutProblem& problem_;
  LayoutChoice choice_;
  std::vector<int> lies_in_;             // the layout of each value
  std::vector<std::vector<int>> reads_;  // of each value, by layout
};

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_LAYOUT_ASSIGNMENT_H_
