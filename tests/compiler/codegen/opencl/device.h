// Runs kernels of OpenCL C on the first device of this machine, where there is one.
#ifndef HONE_TESTS_COMPILER_CODEGEN_OPENCL_DEVICE_H_
#define HONE_TESTS_COMPILER_CODEGEN_OPENCL_DEVICE_H_

#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/codegen/opencl/kernel.h"
#include "tests/compiler/codegen/emulator.h"

namespace hone::codegen {

// Not thread-safe. Loads the system's libOpenCL.so.1; nothing links it.
class OpenClDevice {
 public:
  // The device of the process, opened once; kNotFound says why there is none.
  static absl::StatusOr<OpenClDevice*> Get();
  ~OpenClDevice();
  OpenClDevice(const OpenClDevice&) = delete;
  OpenClDevice& operator=(const OpenClDevice&) = delete;

  // Builds the program and runs its kernels one after the other, on the memory of the nest's
  // buffers. kInvalidArgument: the compiler's log.
  absl::Status Run(const std::string& program, std::span<const opencl::Kernel> kernels,
                   std::span<const BufferBytes> memory);

 private:
  struct Api;
  OpenClDevice();
  absl::Status Open();

  std::unique_ptr<Api> api_;
};

}  // namespace hone::codegen

#endif  // HONE_TESTS_COMPILER_CODEGEN_OPENCL_DEVICE_H_
