// The code of a module for a device other than the host, as the module's tables hold it
// (docs/decisions/0034-devices-and-modules-for-them.md).
#ifndef HONE_COMPILER_CODEGEN_DEVICE_CODE_H_
#define HONE_COMPILER_CODEGEN_DEVICE_CODE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/codegen/backend.h"
#include "compiler/loop/stmt.h"

namespace hone::codegen {

// The contents of struct hone_device_code.
struct DeviceCode {
  int kind = 0;  // enum hone_code_kind
  std::string bytes;
  std::string options;
};

// The contents of struct hone_device_launch.
struct DeviceLaunch {
  std::string entry;
  int code = 0;
  std::array<uint32_t, 3> blocks = {1, 1, 1};
  std::array<uint32_t, 3> threads = {1, 1, 1};
  uint64_t shared_bytes = 0;
  std::vector<uint32_t> arguments;  // indices into the kernel's buffer table
};

// A grid of one dimension with all threads of a launch; the last block may have threads beyond.
struct LinearGrid {
  uint32_t blocks = 1;
  uint32_t threads = 1;  // of a block
};
// The grid for a launch of so many threads. `block_threads` of them are a block, any number if it
// is 0. `most_threads` is the device's limit for a block, 0 if it is not known. kInvalidArgument,
// which names the launch, for larger blocks, and for more of them than devices count.
absl::StatusOr<LinearGrid> LinearGridFor(int64_t threads, int64_t block_threads,
                                         int64_t most_threads, const std::string& launch);

// kInvalidArgument, which names the launch, if the arrays of one thread take more memory than a
// device has for a thread.
absl::Status CheckThreadMemory(const loop::Stmt& body, const std::string& launch);

struct DeviceModule {
  std::vector<DeviceCode> codes;
  // By kernel and launch, in the order of LoweredModule.
  std::vector<std::vector<DeviceLaunch>> launches;
};

// Returns the bytes of the shared object with the module's tables and the device's code, for hosts
// of this machine's architecture. `times` may be null. kInternal if LLVM or lld fails. Thread-safe.
absl::StatusOr<std::string> BuildDeviceModule(const LoweredModule& module,
                                              const DeviceModule& device,
                                              const std::string& toolchain, BuildTimes* times);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_DEVICE_CODE_H_
