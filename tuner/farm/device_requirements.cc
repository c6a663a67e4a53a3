#include "tuner/farm/device_requirements.h"

#include <fmt/format.h>

#include "runtime/target_text.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

std::string SandboxName(v1::SandboxLevel level) {
  switch (level) {
    case v1::SANDBOX_LEVEL_LIMITS:
      return "limits";
    case v1::SANDBOX_LEVEL_CONTAINED:
      return "contained";
    case v1::SANDBOX_LEVEL_STRICT:
      return "strict";
    default:
      return "unknown";
  }
}

}  // namespace

v1::Requirements RequirementsOf(std::string_view target, v1::SandboxLevel sandbox) {
  v1::Requirements requirements;
  requirements.set_sandbox(sandbox);
  const std::string_view kind = KindOf(target);
  requirements.set_kind(kind == "llvm"     ? v1::DEVICE_KIND_CPU
                        : kind == "cuda"   ? v1::DEVICE_KIND_CUDA
                        : kind == "opencl" ? v1::DEVICE_KIND_OPENCL
                                           : v1::DEVICE_KIND_UNSPECIFIED);
  return requirements;
}

v1::SandboxLevel SandboxOf(const v1::Device& device, const v1::Hello& hello) {
  return device.sandbox() == v1::SANDBOX_LEVEL_UNSPECIFIED ? hello.sandbox() : device.sandbox();
}

std::string LacksSandbox(v1::SandboxLevel has, v1::SandboxLevel wanted) {
  if (has >= wanted) return "";
  return fmt::format("its sandbox is {}, this daemon requires {}", SandboxName(has),
                     SandboxName(wanted));
}

}  // namespace hone::tuner
