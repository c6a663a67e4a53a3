// OpenCL C: a program for all kernels of a module, which the device's driver builds.
#include "compiler/codegen/backend.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/codegen/device_code.h"
#include "compiler/codegen/opencl/kernel.h"
#include "fmt/format.h"
#include "runtime/module_abi.h"
#include "support/status.h"

namespace hone::codegen {
namespace {

// The number goes up with every change of what is emitted that changes kernels' times.
constexpr char kToolchain[] = "OpenCL C code 1";

// The work items of a group where nothing says better: of several vectors of every GPU.
constexpr int64_t kWorkItems = 128;

struct Program {
  std::vector<opencl::Kernel> kernels;
  std::vector<std::vector<DeviceLaunch>> launches;
};

absl::StatusOr<DeviceLaunch> LaunchOf(const opencl::Kernel& kernel, int64_t group) {
  const int64_t blocks = std::max<int64_t>((kernel.work_items + group - 1) / group, 1);
  if (blocks > std::numeric_limits<uint32_t>::max()) {
    return absl::InvalidArgumentError(fmt::format(
        "expected a launch of fewer work groups, found {} in {}", blocks, kernel.entry));
  }
  return DeviceLaunch{.entry = kernel.entry,
                      .code = 0,
                      .blocks = {static_cast<uint32_t>(blocks), 1, 1},
                      .threads = {static_cast<uint32_t>(group), 1, 1},
                      .shared_bytes = static_cast<uint64_t>(kernel.local_bytes),
                      .arguments = {kernel.arguments.begin(), kernel.arguments.end()}};
}

// Fewer work items than a group has share one that is as small.
int64_t GroupOf(const opencl::Kernel& kernel, const OpenClTarget& target) {
  const int64_t most = target.max_threads > 0 ? target.max_threads : kWorkItems;
  return std::max<int64_t>(std::min({kernel.work_items, most, kWorkItems}), 1);
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
      HONE_ASSIGN_OR_RETURN(DeviceLaunch launch, LaunchOf(kernel, GroupOf(kernel, target)));
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
