// Launches as kernels of OpenCL C 1.2: their text, and what whoever launches them has to know.
//
// Pure functions of what they are given. A work item does one index of the launch's grid; the host
// waits between launches where `barrier_before` says so.
#ifndef HONE_COMPILER_CODEGEN_OPENCL_KERNEL_H_
#define HONE_COMPILER_CODEGEN_OPENCL_KERNEL_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/codegen/opencl/helpers.h"
#include "compiler/loop/stmt.h"
#include "compiler/lower/lowered_launch.h"

namespace hone::codegen::opencl {

struct KernelOptions {
  // Whether a product and the sum that takes it may be rounded once.
  bool contract = true;
};

// A value type.
struct Kernel {
  std::string entry;  // an identifier
  std::string text;   // the definition alone: ProgramText puts what it calls before it
  std::vector<HelperFunction> helpers;
  // Which of the nest's buffers the arguments are, in order: for each a global pointer, and a
  // ulong, the bytes behind it at which the buffer begins (runtime/module_abi.h).
  std::vector<int> arguments;
  // The global size has at least as many work items in its first dimension; 0: nothing to do. Those
  // beyond return at once, so that any local size divides it.
  int64_t work_items = 0;
  int64_t private_bytes = 0;  // of a work item's arrays
  int64_t local_bytes = 0;    // of a work group
  bool needs_fp64 = false;
};

// The kernel's entry is the symbol, with '_' for what no identifier has: those of one program must
// still differ then. `buffers` are those of the launch's nest. kInvalidArgument where the launch
// uses a variable or buffer that nothing binds.
absl::StatusOr<Kernel> EmitKernel(const lower::LoweredLaunch& launch, const std::string& symbol,
                                  std::span<const loop::Buffer> buffers);

// The text of a program that has all of them.
std::string ProgramText(std::span<const Kernel> kernels, const KernelOptions& options);

struct BuildOptions {
  // Whether the device has CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT. Quotients and roots of float are
  // off by up to 3 units in the last place where it lacks it.
  bool rounds_division = true;
  bool flush_subnormals = false;  // as launches of modules do
};
// The options of clBuildProgram. None of them lets the compiler take other liberties.
std::string ToText(const BuildOptions& options);

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_KERNEL_H_
