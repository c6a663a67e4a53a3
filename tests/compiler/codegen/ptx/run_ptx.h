// Runs nests on this machine's first device of CUDA, beside the interpreter.
#ifndef HONE_TESTS_COMPILER_CODEGEN_PTX_RUN_PTX_H_
#define HONE_TESTS_COMPILER_CODEGEN_PTX_RUN_PTX_H_

#include <string>

#include "compiler/ir/target.h"
#include "compiler/loop/stmt.h"
#include "gtest/gtest.h"
#include "runtime/cuda/cuda_device.h"
#include "tests/compiler/codegen/harness.h"

namespace hone::codegen {

// With instructions of warpgroups, too.
inline constexpr char kHopperGpu[] = "cuda -arch=sm_90a -multiprocessors=132";
// With tensor cores and copies in the background, and without either.
inline constexpr char kAmpere[] = "cuda -arch=sm_80";
inline constexpr char kTuring[] = "cuda -arch=sm_75";

// The first device, opened once and never closed; ctest gives one that stands in for a GPU. Null,
// with the reason in *why, where there is none. Not thread-safe.
cuda::CudaDevice* FindCudaDevice(std::string* why);

// The code for the target; fails the test where there is none.
std::string PtxOf(const loop::Nest& nest, const std::string& target);

// Compiles and runs on the buffers; fails the test where that fails.
void RunOnCuda(const loop::Nest& nest, const std::string& target, const Buffers& buffers);
// Compiles, runs and compares every output with the interpreter's: integers and bools exactly,
// floats within `tolerance` relative to max(1, |value|).
void ExpectCudaSameAsInterpreter(const loop::Nest& nest, const std::string& target,
                                 double tolerance = 1e-6);

// The same as a function of a nest and a tolerance. `target` must stay where it is.
inline auto CheckByCuda(const char* target) {
  return [target](const loop::Nest& nest, double tolerance) {
    ExpectCudaSameAsInterpreter(nest, target, tolerance);
  };
}

#define HONE_SKIP_WITHOUT_CUDA()                                             \
  do {                                                                       \
    std::string why;                                                         \
    if (hone::codegen::FindCudaDevice(&why) == nullptr) GTEST_SKIP() << why; \
  } while (false)

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_PTX_RUN_PTX_H_
