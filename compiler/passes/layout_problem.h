// Which layout signature each kernel takes, as numbers: what AlterOpLayout minimises.
#ifndef HONE_COMPILER_PASSES_LAYOUT_PROBLEM_H_
#define HONE_COMPILER_PASSES_LAYOUT_PROBLEM_H_

#include <cstddef>
#include <vector>

namespace hone::passes {

// One way to run a kernel. Layouts are numbered from 0 for each value on its own.
struct LayoutOption {
  double ns = 0;
  std::vector<int> operands;  // the layout that each operand is read in
  int result = 0;             // the layout of the result
};

struct LayoutKernel {
  std::vector<int> operands;          // values
  int result = -1;                    // value; -1: none whose layout can be chosen
  std::vector<LayoutOption> options;  // one at least, the preferred one first
};

struct LayoutValue {
  int layouts = 1;
  int fixed = 0;               // its layout where it is no kernel's result
  std::vector<int> readers;    // layouts that it is read in whatever is chosen
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

// An option for each kernel.
using LayoutChoice = std::vector<int>;

// The kernels, and one copy of a value for each layout that it is read in and does not have.
double TotalNs(const LayoutProblem& problem, const LayoutChoice& choice);

}  // namespace hone::passes

#endif  // HONE_COMPILER_PASSES_LAYOUT_PROBLEM_H_
