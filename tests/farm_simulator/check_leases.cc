// Invariants of what is leased and offered.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tests/farm_simulator/checker.h"

namespace hone::sim {

using tuning_db::SettleResult;

std::vector<Violation> CheckFencesGrow(const Evidence& evidence) {
  std::vector<Violation> found;
  int64_t last = 0;
  for (size_t i = 0; i < evidence.history.size(); ++i) {
    const Event& event = evidence.history[i];
    if (event.what != What::kLease) continue;
    if (event.fence <= last) {
      found.push_back({"", i, fmt::format("fence {} follows fence {}", event.fence, last)});
    }
    last = std::max(last, event.fence);
  }
  return found;
}

std::vector<Violation> CheckCommitFirst(const Evidence& evidence) {
  std::vector<Violation> found;
  std::map<int64_t, std::string> leased;             // worker, by fence
  std::set<int64_t> settled;                         // fences
  std::set<std::pair<std::string, int64_t>> honest;  // worker and fence of runs
  for (size_t i = 0; i < evidence.history.size(); ++i) {
    const Event& event = evidence.history[i];
    switch (event.what) {
      case What::kLease:
        leased[event.fence] = event.worker;
        break;
      case What::kSettle:
        if (event.number != static_cast<int64_t>(SettleResult::kRefused)) {
          settled.insert(event.fence);
        }
        break;
      case What::kRunEnd:
        if (event.text == kHonest) honest.insert({event.worker, event.fence});
        break;
      case What::kOffer: {
        const auto it = leased.find(event.fence);
        if (it == leased.end() || it->second != event.worker) {
          found.push_back({"", i,
                           fmt::format("fence {} is offered to worker {} without a lease",
                                       event.fence, event.worker)});
        }
        break;
      }
      case What::kAcknowledge:
        if (honest.count({event.worker, event.fence}) > 0 && settled.count(event.fence) == 0) {
          found.push_back(
              {"", i, fmt::format("fence {} is acknowledged before it is settled", event.fence)});
        }
        break;
      default:
        break;
    }
  }
  return found;
}

namespace {

// What a daemon knows of the devices on its streams, and which leases of them are open.
class OpenLeases {
 public:
  using Device = std::pair<std::string, std::string>;  // worker and id
  using OnStream = std::pair<int64_t, std::string>;    // stream and device

  void Take(const Event& event) {
    switch (event.what) {
      case What::kDaemonDown:
        open_.clear();
        break;
      case What::kHello:
        hellos_[event.stream] = {event.fences.begin(), event.fences.end()};
        break;
      case What::kWelcome:
        protocols_[event.stream] = event.number;
        DropWithout(event.worker, hellos_[event.stream]);
        break;
      case What::kLease:  // ends an older one of the trial
        if (trials_.count(event.trial) > 0) Drop(trials_[event.trial]);
        trials_[event.trial] = event.fence;
        break;
      case What::kOffer:
        open_[{event.worker, event.device}].insert(event.fence);
        break;
      case What::kRelease:
      case What::kSettle:
      case What::kRevoke:
      case What::kAcknowledge:
        Drop(event.fence);
        break;
      default:
        break;
    }
  }

  const std::set<int64_t>& Of(const Event& event) { return open_[{event.worker, event.device}]; }
  int64_t ProtocolOf(int64_t stream) { return protocols_[stream]; }

 private:
  void Drop(int64_t fence) {
    for (auto& [device, fences] : open_) fences.erase(fence);
  }
  void DropWithout(const std::string& worker, const std::set<int64_t>& held) {
    for (auto& [device, fences] : open_) {
      if (device.first != worker) continue;
      std::erase_if(fences, [&](int64_t fence) { return held.count(fence) == 0; });
    }
  }

  std::map<int64_t, std::set<int64_t>> hellos_;  // what they held, by stream
  std::map<int64_t, int64_t> protocols_;         // by stream
  std::map<int64_t, int64_t> trials_;            // newest fence
  std::map<Device, std::set<int64_t>> open_;
};

}  // namespace

std::vector<Violation> CheckWindows(const Evidence& evidence) {
  std::vector<Violation> found;
  OpenLeases leases;
  std::map<OpenLeases::OnStream, int64_t> credits;
  std::map<OpenLeases::OnStream, int64_t> windows;
  for (size_t i = 0; i < evidence.history.size(); ++i) {
    const Event& event = evidence.history[i];
    leases.Take(event);
    const OpenLeases::OnStream device = {event.stream, event.device};
    if (event.what == What::kCredit) credits[device] += event.number;
    if (event.what == What::kWindow) windows[device] = event.number;
    if (event.what != What::kOffer) continue;
    if (leases.ProtocolOf(event.stream) < 3) {
      if (--credits[device] >= 0) continue;
      found.push_back({"", i, "an offer without credit"});
    } else if (static_cast<int64_t>(leases.Of(event).size()) > windows[device]) {
      found.push_back({"", i,
                       fmt::format("the device has {} open leases in a window of {}",
                                   leases.Of(event).size(), windows[device])});
    }
  }
  return found;
}

std::vector<Violation> CheckResources(const Evidence& evidence) {
  std::vector<Violation> found;
  std::map<std::string, std::map<std::string, Event>> runs;  // by instance and device
  for (size_t i = 0; i < evidence.history.size(); ++i) {
    const Event& event = evidence.history[i];
    if (event.what == What::kWorkerDown) runs.erase(event.text);
    if (event.what == What::kRunEnd) {
      for (auto& [instance, of_devices] : runs) {
        std::erase_if(of_devices, [&](const auto& run) { return run.second.fence == event.fence; });
      }
    }
    if (event.what != What::kRunBegin) continue;
    for (const auto& [device, other] : runs[event.text]) {
      const bool excludes = std::any_of(
          event.resources.begin(), event.resources.end(), [&, &other = other](const auto& name) {
            return std::find(other.resources.begin(), other.resources.end(), name) !=
                   other.resources.end();
          });
      if (device != event.device && !excludes) continue;
      found.push_back({"", i,
                       fmt::format("fence {} begins while fence {} runs on device {}", event.fence,
                                   other.fence, device)});
    }
    runs[event.text][event.device] = event;
  }
  return found;
}

}  // namespace hone::sim
