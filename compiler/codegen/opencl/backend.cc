// OpenCL C: a program for all kernels of a module, which the device's driver builds.
#include "compiler/codegen/backend.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/codegen/device_code.h"
#include "compiler/codegen/opencl/kernel.h"
#include "runtime/module_abi.h"
#include "support/status.h"

namespace hone::codegen {
namespace {

// The number goes up with every change of what is emitted that changes kernels' times.
constexpr char kToolchain[] = "OpenCL C code 1";

struct Program {
  std::vector<opencl::Kernel> kernels;
  std::vector<std::vector<DeviceLaunch>> launches;
};

absl::StatusOr<DeviceLaunch> LaunchOf(const opencl::Kernel& kernel, const OpenClTarget& target) {
  HONE_ASSIGN_OR_RETURN(const LinearGrid grid, LinearGridFor(kernel.work_items, kernel.group_items,
                                                             target.max_threads, kernel.entry));
  return DeviceLaunch{.entry = kernel.entry,
                      .code = 0,
                      .blocks = {grid.blocks, 1, 1},
                      .threads = {grid.threads, 1, 1},
                      .shared_bytes = static_cast<uint64_t>(kernel.local_bytes),
                      .arguments = {kernel.arguments.begin(), kernel.arguments.end()}};
}

absl::StatusOr<Program> Emit(const LoweredModule& module) {
  const auto& target = std::get<OpenClTarget>(module.spec->target.kind);
  Program program;
  for (size_t k = 0; k < module.launches.size(); ++k) {
    program.launches.emplace_back();
    for (size_t l = 0; l < module.launches[k].size(); ++l) {
      HONE_ASSIGN_OR_RETURN(opencl::Kernel kernel,
                            opencl::EmitKernel(module.launches[k][l], module.symbols[k][l],
                                               module.spec->kernels[k].nest.buffers));
      HONE_ASSIGN_OR_RETURN(DeviceLaunch launch, LaunchOf(kernel, target));
      HONE_RETURN_IF_ERROR(CheckThreadMemory(module.launches[k][l].body, kernel.entry));
      program.launches.back().push_back(std::move(launch));
      program.kernels.push_back(std::move(kernel));
    }
  }
  return program;
}

class OpenClCBackend final : public Backend {
 public:
  absl::StatusOr<std::string> Emit(const LoweredModule& module, CodeForm form,
                                   LaunchCache* /*cache*/, BuildTimes* times) const override {
    HONE_ASSIGN_OR_RETURN(Program program, codegen::Emit(module));
    std::string text = opencl::ProgramText(program.kernels, {});
    if (form != CodeForm::kModule) return text;
    const bool flushes = std::ranges::all_of(
        module.spec->kernels, [](const KernelSpec& kernel) { return kernel.flush_subnormals; });
    DeviceModule device;
    device.codes.push_back(
        {.kind = HONE_CODE_OPENCL_C,
         .bytes = std::move(text),
         .options = opencl::ToText({.rounds_division = false, .flush_subnormals = flushes})});
    device.launches = std::move(program.launches);
    return BuildDeviceModule(module, device, kToolchain, times);
  }
  std::string Toolchain() const override { return kToolchain; }
};

}  // namespace

const Backend& OpenClBackend() {
  static const OpenClCBackend backend;
  return backend;
}

}  // namespace hone::codegen
