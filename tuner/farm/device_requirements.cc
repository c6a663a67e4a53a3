#include "tuner/farm/device_requirements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/target.h"
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

// Empty, or why no task can be matched with the target (canonical text).
std::string WhyNoTarget(std::string_view text) {
  constexpr const char* kWhere =
      "the canonical text is what `hone explain MODEL --json` prints where the device is";
  const absl::StatusOr<Target> target = Target::Parse(text);
  if (!target.ok()) return fmt::format("{}; {}", std::string(target.status().message()), kWhere);
  if (DeviceKindOf(text) == v1::DEVICE_KIND_UNSPECIFIED) {
    return fmt::format("expected a target of kind llvm, cuda or opencl, found \"{}\"; {}", text,
                       kWhere);
  }
  if (KindOf(text) != "llvm") return "";
  for (const char* flag : {"-mtriple", "-mcpu", "-threads"}) {
    if (!FlagOf(text, flag).empty()) continue;
    return fmt::format("expected the flag {} in its target, found \"{}\"; {}", flag, text, kWhere);
  }
  return "";
}

bool IsTimeOrNone(double ns) { return std::isfinite(ns) && ns >= 0; }

// Empty, or what is wrong with what it says of itself besides its target.
std::string WhyNoDevice(const v1::Device& device) {
  if (device.threads() > 0 && static_cast<int64_t>(device.threads()) < ThreadsOf(device.target())) {
    return fmt::format("expected cores for the {} threads of its target, found {}",
                       ThreadsOf(device.target()), device.threads());
  }
  if (!device.host_target().empty()) {
    const std::string why = WhyNoTarget(device.host_target());
    if (!why.empty()) return fmt::format("its host target: {}", why);
    if (KindOf(device.host_target()) != "llvm") {
      return fmt::format("expected a CPU as its host target, found \"{}\"", device.host_target());
    }
  }
  const bool has_times =
      IsTimeOrNone(device.calibrator_ns()) &&
      std::all_of(device.calibrations().begin(), device.calibrations().end(), [](const auto& loop) {
        return IsTimeOrNone(loop.median_ns()) && IsTimeOrNone(loop.spread());
      });
  return has_times ? "" : "expected finite times of at least 0 ns of its calibration, found others";
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
  if (std::string why = WhyNoTarget(device.target()); !why.empty()) return why;
  const v1::DeviceKind kind = DeviceKindOf(device.target());
  // A worker of protocol 2 tells no kind.
  if (device.kind() != v1::DEVICE_KIND_UNSPECIFIED && device.kind() != kind) {
    return fmt::format("its kind is not that of its target \"{}\"", device.target());
  }
  if (!tuning_db::DigestToBytes(device.fingerprint())) {
    return fmt::format("expected a SHA-256 in hexadecimal digits as its fingerprint, found \"{}\"",
                       device.fingerprint());
  }
  if (std::string why = WhyNoDevice(device); !why.empty()) return why;
  const v1::SandboxLevel has = SandboxOf(device, hello);
  if (has >= wanted) return "";
  return fmt::format("its sandbox is {}, this daemon requires {}", SandboxName(has),
                     SandboxName(wanted));
}

}  // namespace hone::tuner
