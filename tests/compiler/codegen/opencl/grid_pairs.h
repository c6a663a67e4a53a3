// Pairs of a workload and a config of its schedule for devices with a grid of threads.
#ifndef HONE_TESTS_COMPILER_CODEGEN_OPENCL_GRID_PAIRS_H_
#define HONE_TESTS_COMPILER_CODEGEN_OPENCL_GRID_PAIRS_H_

#include <cstdint>

namespace hone::codegen {

// Draws products of matrices and convolutions, plain and with what follows them, at sizes that
// blocks of threads divide, reductions and normalisations of rows of any length, and transposes;
// and a few configs of each, the default among them; runs so many pairs on the device of OpenCL and
// beside the interpreter. Fails the test where one differs, and where few of the configs have
// blocks of threads.
void CheckGridPairs(int pairs, uint64_t seed);

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_OPENCL_GRID_PAIRS_H_
