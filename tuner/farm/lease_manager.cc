#include "tuner/farm/lease_manager.h"

#include <algorithm>

namespace hone::tuner {

Lease& LeaseManager::Add(Lease lease, bool tells) {
  const int64_t fence = lease.fence();
  Device& device = devices_[{lease.worker, lease.device()}];
  device.leases.push_back(fence);
  device.tells = tells;
  fence_of_[lease.assignment.trial()] = fence;
  return leases_[fence] = std::move(lease);
}

Lease& LeaseManager::Open(Lease lease, bool tells) {
  lease.offered_ns = clock_->NowNs();
  Lease& added = Add(std::move(lease), tells);
  NameOldest(devices_[{added.worker, added.device()}]);
  return added;
}

Lease& LeaseManager::OpenHeld(Lease lease) {
  const int64_t now = clock_->NowNs();
  lease.offered_ns = now;
  lease.away_until_ns = now + grace_ns_;
  // What it did when the daemon ended is unknown: nothing of what follows is its fault.
  lease.is_suspect = false;
  return Add(std::move(lease), false);
}

Lease* LeaseManager::Find(int64_t fence) {
  const auto it = leases_.find(fence);
  return it == leases_.end() ? nullptr : &it->second;
}

const Lease* LeaseManager::Find(int64_t fence) const {
  const auto it = leases_.find(fence);
  return it == leases_.end() ? nullptr : &it->second;
}

int64_t LeaseManager::FenceOf(int64_t trial) const {
  const auto it = fence_of_.find(trial);
  return it == fence_of_.end() ? 0 : it->second;
}

Lease LeaseManager::Close(int64_t fence) {
  const auto it = leases_.find(fence);
  Lease lease = std::move(it->second);
  leases_.erase(it);
  const auto of_trial = fence_of_.find(lease.assignment.trial());
  if (of_trial != fence_of_.end() && of_trial->second == fence) fence_of_.erase(of_trial);
  const auto device = devices_.find({lease.worker, lease.device()});
  std::erase(device->second.leases, fence);
  if (device->second.leases.empty()) {
    devices_.erase(device);
  } else {
    NameOldest(device->second);
  }
  return lease;
}

void LeaseManager::NameOldest(const Device& device) {
  Lease& oldest = leases_[device.leases.front()];
  if (oldest.oldest_ns || oldest.away_until_ns) return;
  oldest.oldest_ns = clock_->NowNs();
  if (!device.tells) oldest.started_ns = oldest.oldest_ns;
}

void LeaseManager::Detach(const std::string& worker, bool taken_over) {
  const int64_t until = clock_->NowNs() + grace_ns_;
  for (auto& [fence, lease] : leases_) {
    if (lease.worker != worker || lease.away_until_ns) continue;
    lease.is_suspect = IsRunning(lease) && !taken_over;
    lease.away_until_ns = until;
  }
}

std::vector<int64_t> LeaseManager::Reattach(const std::string& worker, const std::string& instance,
                                            const std::set<int64_t>& held, bool tells) {
  std::vector<int64_t> lost;
  for (auto& [fence, lease] : leases_) {
    if (lease.worker != worker || !lease.away_until_ns) continue;
    if (held.count(fence) == 0) {
      if (lease.is_settling) continue;
      if (!instance.empty() && lease.instance == instance) lease.is_suspect = false;
      lost.push_back(fence);
      continue;
    }
    lease.away_until_ns.reset();
    lease.is_suspect = false;
    Device& device = devices_[{worker, lease.device()}];
    device.tells = tells;
    NameOldest(device);
  }
  return lost;
}

void LeaseManager::SeeRunning(const std::string& worker, const std::string& device, int64_t fence,
                              int64_t running_ns) {
  const int64_t now = clock_->NowNs();
  for (const int64_t other : OfDevice(worker, device)) {
    // What it has stopped running without a result waits again, and not for long.
    Lease& lease = leases_[other];
    if (other != fence && !lease.is_settling) lease.started_ns.reset();
  }
  Lease* const lease = Find(fence);
  if (lease == nullptr || lease->worker != worker || lease->away_until_ns) return;
  if (!lease->device().empty() && lease->device() != device) return;
  // Never later than it said before, nor earlier than it was offered: a device cannot buy time.
  const int64_t since = now - std::clamp<int64_t>(running_ns, 0, now - lease->offered_ns);
  lease->started_ns = std::min(since, lease->started_ns.value_or(since));
}

bool LeaseManager::Ran(const Lease& lease) const {
  return lease.away_until_ns ? lease.is_suspect : IsRunning(lease);
}

std::optional<int64_t> LeaseManager::DeadlineNs(const Lease& lease) const {
  if (lease.is_settling) return std::nullopt;
  if (lease.away_until_ns) return lease.away_until_ns;
  if (lease.started_ns) return *lease.started_ns + lease.limit_ns;
  if (!lease.oldest_ns) return std::nullopt;
  // It is its turn, unless the device runs a later one whose artifacts came sooner.
  int64_t longest = 0;
  for (const int64_t fence : OfDevice(lease.worker, lease.device())) {
    longest = std::max(longest, leases_.at(fence).started_ns ? leases_.at(fence).limit_ns : 0);
  }
  return *lease.oldest_ns + lease.limit_ns + longest;
}

std::vector<int64_t> LeaseManager::Overdue() const {
  const int64_t now = clock_->NowNs();
  std::vector<int64_t> overdue;
  for (const auto& [fence, lease] : leases_) {
    const std::optional<int64_t> deadline = DeadlineNs(lease);
    if (deadline && now >= *deadline) overdue.push_back(fence);
  }
  return overdue;
}

std::vector<int64_t> LeaseManager::OfDevice(const std::string& worker,
                                            const std::string& device) const {
  const auto it = devices_.find({worker, device});
  if (it == devices_.end()) return {};
  return {it->second.leases.begin(), it->second.leases.end()};
}

namespace {

bool Needs(const hone::v1::Assignment& assignment, const std::string& digest) {
  const auto is_it = [&](const hone::v1::Candidate& candidate) {
    return candidate.artifact_digest() == digest;
  };
  return std::any_of(assignment.candidates().begin(), assignment.candidates().end(), is_it) ||
         is_it(assignment.reference()) || is_it(assignment.anchor());
}

}  // namespace

std::vector<int64_t> LeaseManager::Needing(const std::string& worker,
                                           const std::string& digest) const {
  std::vector<int64_t> needing;
  for (const auto& [fence, lease] : leases_) {
    if (lease.worker != worker || lease.is_settling || IsRunning(lease)) continue;
    if (!lease.away_until_ns && Needs(lease.assignment, digest)) needing.push_back(fence);
  }
  return needing;
}

const Lease* LeaseManager::RunningOn(const std::string& worker, const std::string& device) const {
  for (const int64_t fence : OfDevice(worker, device)) {
    const Lease& lease = leases_.at(fence);
    if (lease.started_ns && !lease.away_until_ns && !lease.is_settling) return &lease;
  }
  return nullptr;
}

}  // namespace hone::tuner
