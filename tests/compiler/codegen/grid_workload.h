// Random workloads for devices with a grid of threads.
#ifndef HONE_TESTS_COMPILER_CODEGEN_GRID_WORKLOAD_H_
#define HONE_TESTS_COMPILER_CODEGEN_GRID_WORKLOAD_H_

#include <string>

#include "support/random.h"

namespace hone::codegen {

struct GridWorkload {
  std::string text;
  // What results may differ by, relative to max(1, |value|): sums come out in another order, and
  // are rounded to the types of the workload.
  double tolerance = 0;
};

// Products of matrices and convolutions with what comes before and behind them, at sizes that
// blocks of threads, warps and warpgroups divide and at others, in floats of 32 and 16 bits;
// reductions and normalisations of rows of any length, transposes, attention, and a few of all
// families of operators. The numbers 0, 1, 2... give the kinds in turn. Most take the interpreter
// less than a second.
GridWorkload RandomGridWorkload(Random& random, int number);

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_GRID_WORKLOAD_H_
