#include "cli/device_here.h"

#include "cli/exit_code.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "runtime/device_match/device_match.h"
#include "runtime/find_device.h"
#include "runtime/host.h"
#include "support/status.h"

namespace hone::cli {
namespace {

constexpr char kHost[] = "cpu";

absl::Status CheckRunsHere(const CpuTarget& target) {
  if (target.threads > HostCoreCount()) {
    return WithExitCode(
        absl::InvalidArgumentError(fmt::format(
            "expected --threads of at most {}, the cores that this process may run on, found {}; "
            "name the daemon of a farm with a larger machine by --server",
            HostCoreCount(), target.threads)),
        kUsage);
  }
  const std::string missing = MissingOnHost(target.ToString());
  if (missing.empty()) return absl::OkStatus();
  return WithExitCode(
      absl::InvalidArgumentError(fmt::format(
          "expected a target whose code this machine runs, found {}: no {}; name the daemon "
          "of a farm with such a device by --server",
          target.ToString(), missing)),
      kUsage);
}

}  // namespace

absl::StatusOr<std::string> DeviceHere(const Target& target) {
  if (const CpuTarget* const cpu = target.AsCpu()) {
    HONE_RETURN_IF_ERROR(CheckRunsHere(*cpu));
    return kHost;
  }
  const std::string text = target.ToString();
  std::vector<std::string> found;
  for (const ListedDevice& device : ListDevices()) {
    if (CanMeasure({device.target, 1}, text)) return device.name;
    found.push_back(device.target);
  }
  if (found.empty()) found.emplace_back("none");
  return WithExitCode(
      absl::InvalidArgumentError(fmt::format(
          "expected a target that a device of this machine measures for, found {}; the devices "
          "behind drivers here: {}; name the daemon of a farm with such a device by --server",
          text, fmt::join(found, "; "))),
      kUsage);
}

std::vector<std::string> WorkerFlags(const std::string& device, const Target& target) {
  const CpuTarget* const cpu = target.AsCpu();
  if (cpu == nullptr) return {"--device", device};
  return {"--threads", std::to_string(cpu->threads), "--target", cpu->ToString()};
}

}  // namespace hone::cli
