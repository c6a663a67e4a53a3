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

// A one-dimensional grid for a launch. Its last block may have more threads than are needed; these
// have nothing to do.
struct LinearGrid {
  uint32_t blocks = 1;
  uint32_t threads = 1;  // in each block
};
// The grid for a launch of `threads` threads in blocks of `block_threads`; 0 leaves the size of
// blocks to this function. `most_threads` is the most threads that the device allows in a block, or
// 0 if that is not known. kInvalidArgument, which names the launch, if `block_threads` exceeds that
// limit or if there would be more than 2^31 - 1 blocks.
absl::StatusOr<LinearGrid> LinearGridFor(int64_t threads, int64_t block_threads,
                                         int64_t most_threads, const std::string& launch);

// kInvalidArgument, which names the launch, if the arrays that each thread has for itself take more
// memory than devices allow a thread.
absl::Status CheckThreadMemory(const loop::Stmt& body, const std::string& launch);

struct DeviceModule {
  std::vector<DeviceCode> codes;
  // launches[i][j] is for launch j of kernel i, in the same order as LoweredModule::launches.
  std::vector<std::vector<DeviceLaunch>> launches;
};

// Returns the bytes of the shared object with the module's tables and the device's code, for hosts
// of this machine's architecture. `times` may be null. kInternal if LLVM or lld fails. Thread-safe.
absl::StatusOr<std::string> BuildDeviceModule(const LoweredModule& module,
                                              const DeviceModule& device,
                                              const std::string& toolchain, BuildTimes* times);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_DEVICE_CODE_H_
