#include "tuner/farm/lease_manager.h"

#include <algorithm>

namespace hone::tuner {

Lease& LeaseManager::Add(Lease lease) {
  const int64_t fence = lease.fence();
  devices_[{lease.worker, lease.device()}].insert(fence);
  fence_of_[lease.assignment.trial()] = fence;
  lease.offered_ns = clock_->NowNs();
  return leases_[fence] = std::move(lease);
}

Lease& LeaseManager::Open(Lease lease) {
  Lease& added = Add(std::move(lease));
  NameOldest({added.worker, added.device()});
  return added;
}

LeaseManager::Held LeaseManager::OpenHeld(Lease lease) {
  Lease& added = Add(std::move(lease));
  added.away_until_ns = added.offered_ns + grace_ns_;
  // What it did when the daemon ended is unknown: nothing of what follows is its fault.
  added.is_suspect = false;
  const auto attached = attached_.find(added.worker);
  if (attached == attached_.end()) return Held::kAwaited;
  if (attached->second.strays.erase(added.fence()) == 0) return Held::kLost;
  // It may be older than those that are known: it is not their turn then.
  const std::set<int64_t>& of_device = devices_.at({added.worker, added.device()});
  for (auto later = of_device.upper_bound(added.fence()); later != of_device.end(); ++later) {
    leases_[*later].oldest_ns.reset();
  }
  Return(added);
  NameOldestOf(added.worker);
  return Held::kBack;
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
  device->second.erase(fence);
  if (device->second.empty()) {
    devices_.erase(device);
  } else {
    NameOldest(device->first);
  }
  return lease;
}

void LeaseManager::NameOldest(const DeviceKey& device) {
  const auto attached = attached_.find(device.first);
  if (attached == attached_.end()) return;
  Lease& oldest = leases_[*devices_.at(device).begin()];
  if (oldest.away_until_ns) return;
  if (!oldest.oldest_ns) oldest.oldest_ns = clock_->NowNs();
  if (attached->second.tells || !attached->second.strays.empty()) return;
  if (!oldest.started_ns) oldest.started_ns = clock_->NowNs();
}

void LeaseManager::NameOldestOf(const std::string& worker) {
  for (auto it = devices_.lower_bound({worker, ""});
       it != devices_.end() && it->first.first == worker; ++it) {
    NameOldest(it->first);
  }
}

void LeaseManager::Detach(const std::string& worker, bool taken_over) {
  attached_.erase(worker);
  const int64_t until = clock_->NowNs() + grace_ns_;
  for (auto& [fence, lease] : leases_) {
    if (lease.worker != worker || lease.away_until_ns) continue;
    lease.is_suspect = IsRunning(lease) && !taken_over;
    lease.away_until_ns = until;
  }
}

LeaseManager::Returned LeaseManager::Attach(const std::string& worker, const std::string& instance,
                                            const std::set<int64_t>& held, bool tells) {
  Returned returned;
  attached_[worker] = {tells, {}};
  for (const int64_t fence : held) {
    if (leases_.count(fence) == 0) attached_[worker].strays.insert(fence);
  }
  for (auto& [fence, lease] : leases_) {
    if (lease.worker != worker || !lease.away_until_ns) continue;
    if (held.count(fence) > 0) {
      Return(lease);
      returned.back.push_back(fence);
    } else if (!lease.is_settling) {
      if (!instance.empty() && lease.instance == instance) lease.is_suspect = false;
      returned.lost.push_back(fence);
    }
  }
  NameOldestOf(worker);
  return returned;
}

void LeaseManager::Return(Lease& lease) {
  lease.away_until_ns.reset();
  lease.is_suspect = false;
  // It may run on, or wait as a result that is about to be sent: what runs is said again.
  lease.started_ns.reset();
  if (!lease.returned_ns) lease.returned_ns = clock_->NowNs();
}

void LeaseManager::Answered(const std::string& worker, int64_t fence) {
  const auto attached = attached_.find(worker);
  if (attached != attached_.end() && attached->second.strays.erase(fence) > 0) {
    NameOldestOf(worker);
  }
}

void LeaseManager::SeeRunning(const std::string& worker, const std::string& device, int64_t fence,
                              int64_t running_ns) {
  const int64_t now = clock_->NowNs();
  Lease* const lease = Find(fence);
  const bool is_its = lease != nullptr && lease->worker == worker && !lease->away_until_ns &&
                      (lease->device().empty() || lease->device() == device);
  for (const int64_t other_fence : OfDevice(worker, device)) {
    Lease& other = leases_[other_fence];
    if (other_fence == fence || other.is_settling) continue;
    // What it has stopped running without a result does not run again, and keeps its deadline.
    other.started_ns.reset();
    if (is_its && other.oldest_ns) other.instead_ns = std::max(other.instead_ns, lease->limit_ns);
  }
  if (!is_its) return;
  // Never later than it said before, nor earlier than it was offered: a device cannot buy time.
  const int64_t since = now - std::clamp<int64_t>(running_ns, 0, now - lease->offered_ns);
  // What it begins too late is lost all the same.
  if (!lease->began_ns && since > DeadlineNs(*lease).value_or(since)) return;
  lease->began_ns = std::min(since, lease->began_ns.value_or(since));
  lease->started_ns = lease->began_ns;
}

bool LeaseManager::Ran(const Lease& lease) const {
  return lease.away_until_ns ? lease.is_suspect : IsRunning(lease);
}

std::optional<int64_t> LeaseManager::DeadlineNs(const Lease& lease) const {
  if (lease.is_settling) return std::nullopt;
  if (lease.away_until_ns) return lease.away_until_ns;
  if (lease.began_ns && lease.started_ns) return *lease.began_ns + lease.limit_ns;
  const std::optional<int64_t> since = lease.began_ns ? lease.began_ns : lease.oldest_ns;
  if (!since) return std::nullopt;
  // A worker that is back with it has its result, or runs it and is about to say so. Of those that
  // were not begun it is its turn, unless the device runs a later one whose artifacts came sooner.
  return std::max(*since, lease.returned_ns.value_or(*since)) + lease.limit_ns +
         (lease.began_ns ? 0 : lease.instead_ns);
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
  return {it->second.begin(), it->second.end()};
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
