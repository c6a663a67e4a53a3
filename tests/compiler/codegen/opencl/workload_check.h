// Runs the kernels of workloads through OpenCL C and beside the interpreter: as they are defined
// and as the schedules of OpenCL's devices and of CPUs have them.
#ifndef HONE_TESTS_COMPILER_CODEGEN_OPENCL_WORKLOAD_CHECK_H_
#define HONE_TESTS_COMPILER_CODEGEN_OPENCL_WORKLOAD_CHECK_H_

#include <string>

#include "support/random.h"
#include "tests/compiler/codegen/random_workload.h"

namespace hone::codegen {

// The naive nest, that of OpenCL's schedule, and CPUs' nests of `configs` configs: the default and
// random ones. Fails the test where one differs.
void CheckOpenClWorkload(const std::string& workload, int configs, Random& random);

// At most `workloads` random small ones of the family, with the same draws every time; fails the
// test where there is none.
void CheckOpenClFamily(const Family& family, int workloads, int configs);

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_OPENCL_WORKLOAD_CHECK_H_
