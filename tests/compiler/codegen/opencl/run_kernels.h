// Runs emitted kernels on this machine's first device of OpenCL, where there is one, through the
// runtime's device.
#ifndef HONE_TESTS_COMPILER_CODEGEN_OPENCL_RUN_KERNELS_H_
#define HONE_TESTS_COMPILER_CODEGEN_OPENCL_RUN_KERNELS_H_

#include <span>
#include <string>

#include "absl/status/status.h"
#include "compiler/codegen/opencl/kernel.h"
#include "runtime/opencl/device.h"
#include "tests/compiler/codegen/emulator.h"

namespace hone::codegen {

// The first device, opened once and never closed. Null, with the reason in *why, where there is
// none. Not thread-safe.
hone::opencl::OpenClDevice* FindOpenClDevice(std::string* why);

// Builds the program and runs its kernels one after the other on copies of the buffers, which then
// hold what the copies do. The copies begin at different offsets, with bytes around them that no
// kernel may write. kInvalidArgument: the compiler's log. kOutOfRange: a kernel wrote beyond a
// buffer.
absl::Status RunKernels(hone::opencl::OpenClDevice& device, const std::string& program,
                        std::span<const opencl::Kernel> kernels,
                        std::span<const BufferBytes> buffers);

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_OPENCL_RUN_KERNELS_H_
