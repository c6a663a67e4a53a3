// Code of a module for a device other than the host, as the module's tables hold it
// (docs/decisions/0034-devices-and-modules-for-them.md).
#ifndef HONE_COMPILER_CODEGEN_DEVICE_CODE_H_
#define HONE_COMPILER_CODEGEN_DEVICE_CODE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/codegen/backend.h"

namespace hone::codegen {

// As struct hone_device_code. A value type.
struct DeviceCode {
  int kind = 0;  // enum hone_code_kind
  std::string bytes;
  std::string options;
};

// As struct hone_device_launch. A value type.
struct DeviceLaunch {
  std::string entry;
  int code = 0;
  std::array<uint32_t, 3> blocks = {1, 1, 1};
  std::array<uint32_t, 3> threads = {1, 1, 1};
  uint64_t shared_bytes = 0;
  std::vector<uint32_t> arguments;  // places in the kernel's buffers
};

struct DeviceModule {
  std::vector<DeviceCode> codes;
  std::vector<std::vector<DeviceLaunch>> launches;  // of each kernel, as LoweredModule has them
};

// The bytes of the shared object: the module's tables and the code, for this machine as the host.
// Thread-safe; kInternal for failures of LLVM or lld. `times` may be nullptr.
absl::StatusOr<std::string> BuildDeviceModule(const LoweredModule& module,
                                              const DeviceModule& device,
                                              const std::string& toolchain, BuildTimes* times);

}  // namespace hone::codegen

#endif  // HONE_COMPILER_CODEGEN_DEVICE_CODE_H_
