#include "measure_server/worker_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "measure_server/cpu_device.h"
#include "measure_server/driver_device.h"
#include "measure_server/list_devices_apart.h"
#include "measure_server/measurer_chain.h"
#include "support/status.h"

namespace hone::measure {

namespace v1 = hone::v1;

namespace {

constexpr int64_t kListLimitNs = 60'000'000'000;
constexpr char kCores[] = "cores";

v1::SandboxLevel ToProto(SandboxLevel level) {
  return level == SandboxLevel::kStrict ? v1::SANDBOX_LEVEL_STRICT : v1::SANDBOX_LEVEL_LIMITS;
}

absl::Status CheckNames(const std::vector<std::string>& names) {
  std::set<std::string> known;
  for (const std::string& name : names) {
    if (known.insert(name).second) continue;
    return absl::InvalidArgumentError(
        fmt::format("expected each device once, found {} twice", name));
  }
  return absl::OkStatus();
}

std::string NamesOf(const std::vector<ListedDevice>& listed) {
  std::string names = kHostDevice;
  for (const ListedDevice& device : listed) {
    names += fmt::format(", {} ({})", device.name, device.target);
  }
  return names;
}

}  // namespace

absl::StatusOr<WorkerDevices> WorkerDevices::Start(const Options& options) {
  HONE_RETURN_IF_ERROR(CheckNames(options.names));
  WorkerDevices all;
  HONE_ASSIGN_OR_RETURN(all.host_, Zygote::Start({.level = options.sandbox}));
  HONE_RETURN_IF_ERROR(all.AddDriverDevices(options));
  if (std::ranges::count(options.names, kHostDevice) > 0) {
    v1::Device cpu = DescribeCpu(options.threads, options.target, options.is_emulated);
    cpu.set_sandbox(ToProto(options.sandbox));
    all.devices_.insert(all.devices_.begin(), std::move(cpu));
  }
  if (all.devices_.size() > 1) {
    for (v1::Device& device : all.devices_) device.add_resources(kCores);
  }
  return all;
}

absl::Status WorkerDevices::AddDriverDevices(const Options& options) {
  std::vector<std::string> names = options.names;
  std::erase(names, kHostDevice);
  if (names.empty()) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(const std::vector<ListedDevice> listed, ListDevicesApart(kListLimitNs));
  for (const std::string& name : names) {
    const auto found = std::ranges::find(listed, name, &ListedDevice::name);
    if (found == listed.end()) {
      return absl::NotFoundError(
          fmt::format("expected for --device one of {}, found '{}'", NamesOf(listed), name));
    }
    HONE_RETURN_IF_ERROR(StartContained(name));
    devices_.push_back(DescribeDriverDevice(*found, options.is_emulated));
  }
  return absl::OkStatus();
}

absl::Status WorkerDevices::StartContained(const std::string& name) {
  HONE_ASSIGN_OR_RETURN(DriverFiles files, DriverFiles::Make());
  const std::string folder = files.path();
  folders_.push_back(std::move(files));
  HONE_ASSIGN_OR_RETURN(
      contained_[name],
      Zygote::Start({.level = SandboxLevel::kContained, .device = name, .driver_files = folder}));
  return absl::OkStatus();
}

std::unique_ptr<Measurer> WorkerDevices::MeasurerFor(const v1::Device& device, const Clock* clock) {
  const auto contained = contained_.find(device.id());
  Zygote* const runner = contained == contained_.end() ? host_.get() : contained->second.get();
  return MakeMeasurer(device, runner, host_.get(), clock);
}

int WorkerDevices::cores() const {
  uint32_t most = 1;
  for (const v1::Device& device : devices_) most = std::max(most, device.threads());
  return static_cast<int>(most);
}

}  // namespace hone::measure
