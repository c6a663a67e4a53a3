// Writes launches as kernels of OpenCL C 1.2, with what is needed to launch them.
//
// These are pure functions. One work item computes an index of the launch's grid, or all work items
// of a work group compute it together. The host waits before a launch if its `barrier_before` is
// set.
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
  // Whether a product and the sum that it goes into may be contracted, with one rounding.
  bool contract = true;
};

struct Kernel {
  std::string entry;  // an identifier
  std::string text;   // the definition alone; ProgramText puts the helpers before it
  std::vector<HelperFunction> helpers;
  // The nest's buffers that are the arguments, in order. Each is passed as a global pointer and a
  // ulong, the offset in bytes at which the buffer begins (runtime/module_abi.h).
  std::vector<int> arguments;
  // The global size must be at least this in its first dimension; 0 means nothing to do.
  int64_t work_items = 0;
  // The local size. 0: the host may choose any, since work items beyond `work_items` return at
  // once.
  int64_t group_items = 0;
  int64_t local_bytes = 0;  // of a work group
  bool needs_fp64 = false;
};

// The kernel's entry is the symbol with '_' for characters that identifiers cannot have; the
// entries of one program must still differ after that. `buffers` are those of the launch's nest.
// kInvalidArgument if the launch uses a variable or buffer that nothing binds.
absl::StatusOr<Kernel> EmitKernel(const lower::LoweredLaunch& launch, const std::string& symbol,
                                  std::span<const loop::Buffer> buffers);

// The text of a program with all the kernels and their helpers.
std::string ProgramText(std::span<const Kernel> kernels, const KernelOptions& options);

struct BuildOptions {
  // Whether the device has CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT. Without it, quotients and square
  // roots of float are off by up to 3 units in the last place.
  bool rounds_division = true;
  bool flush_subnormals = false;  // as launches of modules do
};
// The options for clBuildProgram. They give the compiler no other freedom.
std::string ToText(const BuildOptions& options);

}  // namespace hone::codegen::opencl

#endif  // HONE_COMPILER_CODEGEN_OPENCL_KERNEL_H_
