// Runs nests through OpenCL C and beside the interpreter.
#ifndef HONE_TESTS_COMPILER_CODEGEN_OPENCL_SAME_RESULTS_H_
#define HONE_TESTS_COMPILER_CODEGEN_OPENCL_SAME_RESULTS_H_

#include <string>
#include <vector>

#include "compiler/codegen/opencl/kernel.h"
#include "compiler/ir/target.h"
#include "compiler/loop/stmt.h"
#include "tests/compiler/codegen/harness.h"
#include "tests/compiler/codegen/opencl/run_kernels.h"

namespace hone::codegen {

// A device of few blocks of threads, which share memory.
inline constexpr char kOpenClGrid[] =
    "opencl -device=any -max-threads=256 -local=32768 -compute-units=4";

// What kernels of OpenCL are scheduled and lowered for.
Target AnyOpenClTarget();

// The kernels of a nest's launches, in execution order; fails the test where there are none.
std::vector<opencl::Kernel> KernelsOf(const loop::Nest& nest);
// Runs the nest on the device; fails the test where that fails.
void RunByOpenCl(hone::opencl::OpenClDevice& device, const loop::Nest& nest, const Buffers& buffers,
                 const opencl::KernelOptions& options = {});

// Compares every output with the interpreter's: integers and bools exactly, floats within
// `tolerance` relative to max(1, |value|).
void ExpectOpenClSameAsInterpreter(const loop::Nest& nest, double tolerance = 1e-6,
                                   const opencl::KernelOptions& options = {});

// The same without options.
inline void CheckByOpenCl(const loop::Nest& nest, double tolerance) {
  ExpectOpenClSameAsInterpreter(nest, tolerance);
}

#define HONE_SKIP_WITHOUT_OPENCL()                                             \
  do {                                                                         \
    std::string why;                                                           \
    if (hone::codegen::FindOpenClDevice(&why) == nullptr) GTEST_SKIP() << why; \
  } while (false)

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_OPENCL_SAME_RESULTS_H_
