#include "tuner/farm/device_requirements.h"

#include <fmt/format.h>

#include "runtime/target_text.h"
#include "tuner/device_need.h"
#include "tuning_db/digest_bytes.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

// UNSPECIFIED for a text that is no target's.
v1::DeviceKind DeviceKindOf(std::string_view target) {
  const std::string_view kind = KindOf(target);
  return kind == "llvm"     ? v1::DEVICE_KIND_CPU
         : kind == "cuda"   ? v1::DEVICE_KIND_CUDA
         : kind == "opencl" ? v1::DEVICE_KIND_OPENCL
                            : v1::DEVICE_KIND_UNSPECIFIED;
}

}  // namespace

v1::Requirements RequirementsOf(std::string_view target, v1::SandboxLevel sandbox) {
  v1::Requirements requirements;
  requirements.set_sandbox(sandbox);
  requirements.set_kind(DeviceKindOf(target));
  return requirements;
}

v1::SandboxLevel SandboxOf(const v1::Device& device, const v1::Hello& hello) {
  return device.sandbox() == v1::SANDBOX_LEVEL_UNSPECIFIED ? hello.sandbox() : device.sandbox();
}

std::string WhyBarred(const v1::Device& device, const v1::Hello& hello, v1::SandboxLevel wanted) {
  const v1::DeviceKind kind = DeviceKindOf(device.target());
  if (kind == v1::DEVICE_KIND_UNSPECIFIED) {
    return fmt::format(
        "its target \"{}\" is none; the canonical text is what `hone explain MODEL --json` prints",
        device.target());
  }
  // A worker of protocol 2 tells no kind.
  if (device.kind() != v1::DEVICE_KIND_UNSPECIFIED && device.kind() != kind) {
    return fmt::format("its kind is not that of its target \"{}\"", device.target());
  }
  if (!tuning_db::DigestToBytes(device.fingerprint())) {
    return fmt::format("expected a SHA-256 in hexadecimal digits as its fingerprint, found \"{}\"",
                       device.fingerprint());
  }
  const v1::SandboxLevel has = SandboxOf(device, hello);
  if (has >= wanted) return "";
  return fmt::format("its sandbox is {}, this daemon requires {}", SandboxName(has),
                     SandboxName(wanted));
}

}  // namespace hone::tuner
