#include "tuner/farm/fleet.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <tuple>

#include "absl/strings/ascii.h"
#include "runtime/module_abi.h"
#include "support/status.h"
#include "tuner/farm/device_match.h"
#include "tuner/farm/device_requirements.h"

namespace hone::tuner {

namespace v1 = hone::v1;

namespace {

constexpr int kMostDevicesOfOne = 256;
constexpr int kMostHeldFences = 4096;
// Leases of one device, whatever its worker asks for: they wait where others could run them.
constexpr uint64_t kMostWindow = 256;
// Names that stay bound to who dialled under them, besides those of workers that are connected.
constexpr size_t kMostBound = 4096;

absl::Status NameTaken(const v1::Hello& by) {
  return absl::AlreadyExistsError(fmt::format(
      "the name {} is taken by another worker that is connected ({}); give this one a name of its "
      "own (hone-measure: --name)",
      by.worker(), by.instance().empty() ? by.build() : by.instance()));
}

// Whether they may not measure at once: both name one resource.
bool Exclude(const v1::Device& a, const v1::Device& b) {
  return std::ranges::find_first_of(a.resources(), b.resources()) != a.resources().end();
}

// One line of a log or a list.
bool IsOneLine(const std::string& name) {
  return !name.empty() && name.size() <= kMostNameBytes &&
         std::none_of(name.begin(), name.end(), absl::ascii_iscntrl);
}

absl::Status AreWellFormed(const v1::Hello& hello) {
  if (!IsOneLine(hello.worker())) {
    return absl::InvalidArgumentError(
        fmt::format("a worker needs a name that is unique on the farm, of 1 to {} bytes without "
                    "control characters",
                    kMostNameBytes));
  }
  if (hello.min_protocol() > hello.max_protocol()) {
    return absl::InvalidArgumentError(
        fmt::format("expected worker {} to speak a range of protocols, found {} to {}",
                    hello.worker(), hello.min_protocol(), hello.max_protocol()));
  }
  if (hello.devices_size() > kMostDevicesOfOne || hello.held_fences_size() > kMostHeldFences) {
    return absl::InvalidArgumentError(
        fmt::format("expected at most {} devices and {} held fences of worker {}, found {} and {}",
                    kMostDevicesOfOne, kMostHeldFences, hello.worker(), hello.devices_size(),
                    hello.held_fences_size()));
  }
  std::set<std::string> ids;
  for (const v1::Device& device : hello.devices()) {
    if (!IsOneLine(device.id())) {
      return absl::InvalidArgumentError(
          fmt::format("a device of worker {} needs an id of 1 to {} bytes without control "
                      "characters",
                      hello.worker(), kMostNameBytes));
    }
    if (!ids.insert(device.id()).second) {
      return absl::InvalidArgumentError(
          fmt::format("expected devices of worker {} to have ids that differ, found \"{}\" twice",
                      hello.worker(), device.id()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

FleetDevice* Session::FindDevice(const std::string& id) {
  const auto it = devices.find(id);
  return it == devices.end() ? nullptr : &it->second;
}

absl::Status Fleet::MayJoin(const v1::Hello& hello, const WorkerLink& link) const {
  HONE_RETURN_IF_ERROR(AreWellFormed(hello));
  if (hello.min_protocol() > kFarmProtocol || hello.max_protocol() < kOldestFarmProtocol) {
    return absl::FailedPreconditionError(
        fmt::format("worker {} speaks the farm protocol {} to {}, this daemon {} to {}; a worker "
                    "and its daemon must be at most one release apart",
                    hello.worker(), hello.min_protocol(), hello.max_protocol(), kOldestFarmProtocol,
                    kFarmProtocol));
  }
  if (hello.artifact_abi() != HONE_MODULE_ABI_VERSION) {
    return absl::FailedPreconditionError(fmt::format(
        "worker {} runs artifacts of ABI {}, this daemon builds ABI {}; a worker that runs these "
        "is needed",
        hello.worker(), hello.artifact_abi(), HONE_MODULE_ABI_VERSION));
  }
  const auto bound = bound_.find(hello.worker());
  if (bound != bound_.end() && bound->second != link.identity()) {
    return absl::PermissionDeniedError(fmt::format(
        "the name {} is of a worker of {}, and {} dials; give this one a name of its own "
        "(hone-measure: --name)",
        hello.worker(), bound->second, link.identity()));
  }
  const auto older = sessions_.find(hello.worker());
  // Two without an instance, of the release before, may be one that is back.
  if (older != sessions_.end() && older->second.hello.instance() != hello.instance()) {
    return NameTaken(older->second.hello);
  }
  return absl::OkStatus();
}

Session& Fleet::Join(const std::shared_ptr<WorkerLink>& link, const v1::Hello& hello) {
  ForgetGoneDevices(hello.worker());
  histories_.Forget([this](const std::string& worker) { return sessions_.contains(worker); });
  Session& session = sessions_[hello.worker()];
  session.link = link;
  session.hello = hello;
  session.protocol = std::min(hello.max_protocol(), kFarmProtocol);
  session.last_message_ns = clock_->NowNs();
  for (const v1::Device& device : hello.devices()) {
    Describe(session, device, &session.devices[device.id()]);
  }
  worker_of_[link.get()] = hello.worker();
  if (bound_.size() >= kMostBound) {
    std::erase_if(bound_, [this](const auto& item) { return sessions_.count(item.first) == 0; });
  }
  if (!link->identity().empty()) bound_[hello.worker()] = link->identity();
  devices_for_.clear();
  return session;
}

void Fleet::Leave(const std::string& worker) {
  const auto it = sessions_.find(worker);
  if (it == sessions_.end()) return;
  worker_of_.erase(it->second.link.get());
  sessions_.erase(it);
  devices_for_.clear();
}

Session* Fleet::Find(const std::string& worker) {
  const auto it = sessions_.find(worker);
  return it == sessions_.end() ? nullptr : &it->second;
}

Session* Fleet::Find(const WorkerLink* link) {
  const auto it = worker_of_.find(link);
  return it == worker_of_.end() ? nullptr : Find(it->second);
}

void Fleet::Describe(const Session& session, const v1::Device& info, FleetDevice* device) {
  device->info = info;
  device->told_ns = clock_->NowNs();
  histories_.Told(session.worker(), info, device->told_ns);
  device->is_away = false;
  device->away_reason.clear();
  device->barred = WhyBarred(info, session.hello, sandbox_);
  if (device->barred.empty()) return;
  spdlog::warn("device {} of worker {} is given nothing: {}", info.id(), session.worker(),
               device->barred);
}

absl::Status Fleet::Update(Session& session, const v1::DeviceUpdate& update) {
  const std::string& id = update.device().id();
  devices_for_.clear();
  if (update.unplugged()) {
    FleetDevice* const device = session.FindDevice(id);
    if (device == nullptr) return absl::OkStatus();
    // It stays in the list: what it measured before may still be on its way to the store.
    device->is_away = true;
    device->away_reason = update.reason();
    device->window = 0;
    return absl::OkStatus();
  }
  const bool is_new = session.devices.count(id) == 0;
  if (!IsOneLine(id) || (is_new && session.devices.size() >= kMostDevicesOfOne)) {
    return absl::InvalidArgumentError(
        fmt::format("expected at most {} devices with ids of worker {}, found \"{}\" besides",
                    kMostDevicesOfOne, session.worker(), id));
  }
  Describe(session, update.device(), &session.devices[id]);
  return absl::OkStatus();
}

const std::vector<DeviceOf>& Fleet::DevicesFor(const DeviceNeed& need) {
  const auto [it, is_new] = devices_for_.try_emplace(need);
  if (!is_new) return it->second;
  for (auto& [worker, session] : sessions_) {
    for (auto& [id, device] : session.devices) {
      const v1::SandboxLevel sandbox = SandboxOf(device.info, session.hello);
      if (device.takes_work() && Meets(device.info, sandbox, need))
        it->second.push_back({&session, &device});
    }
  }
  return it->second;
}

// Any lease of another device may begin to run at any time, so it counts whether or not it runs.
bool Fleet::SharesWithBusy(const Session& session, const FleetDevice& device) const {
  if (device.info.resources().empty()) return false;
  return std::any_of(session.devices.begin(), session.devices.end(), [&](const auto& item) {
    const FleetDevice& other = item.second;
    return &other != &device && other.open > 0 && Exclude(device.info, other.info);
  });
}

bool Fleet::TakesLease(const Session& session, const FleetDevice& device) const {
  if (session.is_draining || !device.HasRoom()) return false;
  if (device.open >= kMostWindow) return false;
  if (quarantines_.Covers(session.worker(), device.info.id())) return false;
  // Devices that exclude one another take turns lease by lease, or the first would keep the others
  // from ever being given one.
  if (!device.info.resources().empty() && session.devices.size() > 1) {
    if (SharesWithBusy(session, device)) return false;
    const bool has_rival =
        std::any_of(session.devices.begin(), session.devices.end(), [&](const auto& item) {
          return &item.second != &device && Exclude(device.info, item.second.info);
        });
    if (has_rival && device.open > 0) return false;
  }
  const auto health = health_.find({session.worker(), device.info.id()});
  if (health == health_.end()) return true;
  const int64_t now = clock_->NowNs();
  if (health->second.IsQuarantined(now)) return false;
  return !health->second.IsOnTrial(now) || device.open == 0;
}

bool Fleet::HasRoom(const DeviceNeed& need) {
  const std::vector<DeviceOf>& devices = DevicesFor(need);
  return std::any_of(devices.begin(), devices.end(),
                     [&](const DeviceOf& of) { return TakesLease(*of.session, *of.device); });
}

DeviceOf Fleet::Choose(const DeviceNeed& need, const std::set<std::string>& avoid) {
  DeviceOf best;
  bool best_is_avoided = false;
  for (const DeviceOf& of : DevicesFor(need)) {
    if (!TakesLease(*of.session, *of.device)) continue;
    const bool is_avoided = avoid.count(of.session->worker()) > 0;
    const auto rank = [](bool avoided, const FleetDevice& device) {
      return std::make_tuple(avoided, device.open, device.last_offer);
    };
    if (best.device == nullptr ||
        rank(is_avoided, *of.device) < rank(best_is_avoided, *best.device)) {
      best = of;
      best_is_avoided = is_avoided;
    }
  }
  return best;
}

void Fleet::Take(FleetDevice& device) {
  device.open += 1;
  device.last_offer = ++offers_;
}

void Fleet::Hold(Session& session, const std::string& device) {
  FleetDevice* const found = session.FindDevice(device);
  if (found == nullptr) return;
  found->open += 1;
  if (!session.tells()) found->window += 1;
}

void Fleet::TakeBack(FleetDevice& device) { device.open -= device.open > 0 ? 1 : 0; }

void Fleet::Give(const std::string& worker, const std::string& device) {
  Session* const session = Find(worker);
  FleetDevice* const found = session == nullptr ? nullptr : session->FindDevice(device);
  if (found == nullptr || found->open == 0) return;
  found->open -= 1;
  // Credit is used up by what it was given for.
  if (!session->tells() && found->window > 0) found->window -= 1;
}

std::vector<ServedDevice> Fleet::Served() const {
  std::vector<ServedDevice> served;
  const int64_t now = clock_->NowNs();
  for (const auto& [worker, session] : sessions_) {
    if (session.is_draining) continue;
    for (const auto& [id, device] : session.devices) {
      if (!device.takes_work() || quarantines_.Covers(worker, id)) continue;
      if (HealthOf(worker, id).IsQuarantined(now)) continue;
      v1::Device info = device.info;
      info.set_sandbox(SandboxOf(info, session.hello));
      auto alike = std::find_if(served.begin(), served.end(), [&](const ServedDevice& other) {
        return AreAlike(other.device, info);
      });
      if (alike == served.end()) alike = served.insert(served.end(), {info, 0});
      alike->window += std::min(device.window, kMostWindow);
    }
  }
  return served;
}

bool Fleet::Lost(const std::string& worker, const std::string& device, int64_t trial,
                 const std::string& why) {
  return health_[{worker, device}].Lost(rule_, trial, clock_->NowNs(), why);
}

bool Fleet::Measured(const std::string& worker, const std::string& device) {
  const auto it = health_.find({worker, device});
  if (it == health_.end()) return false;
  const bool has_rested = it->second.rests() > 0;
  health_.erase(it);
  return has_rested;
}

DeviceHealth Fleet::HealthOf(const std::string& worker, const std::string& device) const {
  const auto it = health_.find({worker, device});
  return it == health_.end() ? DeviceHealth() : it->second;
}

void Fleet::SetHealth(const std::string& worker, const std::string& device,
                      const DeviceHealth& health) {
  health_[{worker, device}] = health;
}

std::vector<std::string> Fleet::EndRests(const std::string& worker, const std::string& device) {
  std::vector<std::string> ended;
  std::erase_if(health_, [&](const auto& item) {
    const auto& [of_worker, id] = item.first;
    const bool is_it = of_worker == worker && (device.empty() || id == device);
    if (is_it) ended.push_back(id);
    return is_it;
  });
  return ended;
}

// Workers that do not come back are not remembered for ever.
void Fleet::ForgetGoneDevices(const std::string& but_of) {
  std::erase_if(health_, [&](const auto& item) {
    const auto& [device, health] = item;
    return sessions_.count(device.first) == 0 && device.first != but_of &&
           !health.IsQuarantined(clock_->NowNs());
  });
}

}  // namespace hone::tuner
