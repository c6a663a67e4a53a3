#include "measure_server/worker_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "measure_server/cpu_device.h"
#include "measure_server/driver_device.h"
#include "measure_server/list_devices_apart.h"
#include "measure_server/load_ahead.h"
#include "measure_server/measurer_chain.h"
#include "runtime/thread_team.h"
#include "support/status.h"

namespace hone::measure {

namespace v1 = hone::v1;

namespace {

constexpr int64_t kListLimitNs = 60'000'000'000;
constexpr int64_t kOpenLimitNs = 60'000'000'000;
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

std::string NamesOf(const DevicesHere& here) {
  std::string names = kHostDevice;
  for (const ListedDevice& device : here.listed) {
    names += fmt::format(", {} ({})", device.name, device.target);
  }
  return names;
}

// The device of that name, as its driver describes it.
absl::StatusOr<ListedDevice> FindListed(const std::string& name, const DevicesHere& here) {
  const auto found = std::ranges::find(here.listed, name, &ListedDevice::name);
  if (found != here.listed.end()) return *found;
  std::string sentence =
      fmt::format("expected for --device one of {}, found '{}'", NamesOf(here), name);
  for (const std::string& missing : here.missing) sentence += "; " + missing;
  return absl::NotFoundError(sentence);
}

}  // namespace

absl::StatusOr<WorkerDevices> WorkerDevices::Start(const Options& options) {
  HONE_RETURN_IF_ERROR(CheckNames(options.names));
  WorkerDevices all;
  all.ahead_ = options.ahead;
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
  HONE_ASSIGN_OR_RETURN(const DevicesHere here, ListDevicesApart(kListLimitNs));
  for (const std::string& name : names) {
    HONE_ASSIGN_OR_RETURN(const ListedDevice listed, FindListed(name, here));
    HONE_ASSIGN_OR_RETURN(ContainedDevice device, ContainedDevice::Start(name));
    HONE_RETURN_IF_ERROR(device.CheckOpens(kOpenLimitNs));
    contained_.emplace(name, std::move(device));
    devices_.push_back(DescribeDriverDevice(listed, options.is_emulated));
  }
  return absl::OkStatus();
}

std::unique_ptr<Measurer> WorkerDevices::MeasurerFor(const v1::Device& device, const Clock* clock) {
  const auto contained = contained_.find(device.id());
  Zygote* const runner = contained == contained_.end() ? host_.get() : contained->second.zygote();
  return MakeMeasurer(device, runner, host_.get(), clock);
}

uint32_t WorkerDevices::AheadOf(const v1::Device& device) const {
  const auto usable = static_cast<uint32_t>(UsableCores().size());
  const uint32_t spare = usable - std::min(usable, static_cast<uint32_t>(cores()));
  return CandidatesAheadOf(device, devices_, spare, ahead_);
}

int WorkerDevices::cores() const {
  uint32_t most = 1;
  for (const v1::Device& device : devices_) most = std::max(most, device.threads());
  return static_cast<int>(most);
}

}  // namespace hone::measure
