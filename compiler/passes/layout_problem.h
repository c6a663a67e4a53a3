// The problem that AlterOpLayout solves, in numbers: which layout signature each kernel takes.
#ifndef HONE_COMPILER_PASSES_LAYOUT_PROBLEM_H_
#define HONE_COMPILER_PASSES_LAYOUT_PROBLEM_H_

#include <cstddef>
#include <vector>

namespace hone::passes {

// One way to run a kernel, which is one signature. The layouts of each value are numbered from 0.
struct LayoutOption {
  double ns = 0;
  std::vector<int> operands;  // the layout that each operand is read in
  int result = 0;             // the layout of the result
};

struct LayoutKernel {
  std::vector<int> operands;          // values
  int result = -1;                    // value; -1: none whose layout can be chosen
  std::vector<LayoutOption> options;  // at least one; the preferred one first
};

struct LayoutValue {
  int layouts = 1;
  int fixed = 0;               // its layout, if it is no kernel's result
  std::vector<int> readers;    // layouts that it is read in, whatever is chosen
  std::vector<double> copies;  // nanoseconds, [from * layouts + to]

  double CopyNs(int from, int to) const {
    return from == to ? 0
                      : copies[static_cast<size_t>(from) * static_cast<size_t>(layouts) +
                               static_cast<size_t>(to)];
  }
};

struct LayoutProblem {
  std::vector<LayoutKernel> kernels;  // in execution order
  std::vector<LayoutValue> values;
};

// The index of an option for each kernel.
using LayoutChoice = std::vector<int>;

// The time of the kernels, plus one copy of each value for every layout other than its own that it
// is read in.
double TotalNs(const LayoutProblem& problem, const LayoutChoice& choice);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_LAYOUT_PROBLEM_H_
