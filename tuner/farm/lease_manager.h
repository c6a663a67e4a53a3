// Tracks the open leases: who has each, since when it runs, and when its time is over.
#ifndef HONE_TUNER_FARM_LEASE_MANAGER_H_
#define HONE_TUNER_FARM_LEASE_MANAGER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hone/v1/farm.pb.h"
#include "support/clock.h"
#include "tuner/farm/pending_trial.h"

namespace hone::tuner {

struct Lease {
  std::shared_ptr<PendingTrial> pending;
  // What a result is compared with. For a lease from before a restart it is what the store kept of
  // it.
  hone::v1::Assignment assignment;
  std::string worker;
  std::string instance;      // the worker's instance that it was offered to; empty: unknown
  int64_t limit_ns = 0;      // how long its device may run it
  bool is_settling = false;  // its result is here, so it cannot be lost any more

  // The fields below are set by the manager.
  int64_t offered_ns = 0;
  // When it became the oldest open lease of its device; nullopt if it is not the oldest.
  std::optional<int64_t> oldest_ns;
  // The longest that the device may take for another lease that it ran while this one was its
  // oldest.
  int64_t instead_ns = 0;
  // When its device began it, by the first report of that; nullopt if it has not been reported.
  std::optional<int64_t> began_ns;
  // Since when its device has been running it; nullopt if it waits or has stopped, or if its worker
  // is back and has not yet said what runs.
  std::optional<int64_t> started_ns;
  // When its worker came back with it for the first time.
  std::optional<int64_t> returned_ns;
  // Until when its worker, whose stream has ended, may come back.
  std::optional<int64_t> away_until_ns;
  // While the worker is away: this lease may be what took it down.
  bool is_suspect = false;

  int64_t fence() const { return assignment.fence(); }
  const std::string& device() const { return assignment.device(); }
};

// A pure state machine over a clock: it sends nothing and stores nothing. A lease runs from the
// time when its device says so; a device that never says so (protocol 2) is taken to run its
// oldest. Not thread-safe; the clock outlives it.
class LeaseManager {
 public:
  // The leases of a worker that is back, by fence.
  struct Returned {
    std::vector<int64_t> back;
    // The worker was given these and no longer has them. Ran still says whether each is to blame;
    // none is if the same instance is back, because it has not gone down.
    std::vector<int64_t> lost;
  };
  // What is known of a lease from an earlier life of the daemon, or from another daemon.
  enum class Held {
    kAwaited,  // its worker is not connected, and has the grace period to come back
    kBack,     // its worker came back with it before
    kLost,     // its worker is connected and does not have it
  };

  // `grace_ns`: how long a worker whose stream has ended may come back.
  LeaseManager(const Clock* clock, int64_t grace_ns) : clock_(clock), grace_ns_(grace_ns) {}

  // ---- workers ----
  //
  // A stream of the worker is up, and its Hello named these fences. `tells` says that its devices
  // report what they run.
  Returned Attach(const std::string& worker, const std::string& instance,
                  const std::set<int64_t>& held, bool tells);
  // The worker's stream has ended, by itself or (`taken_over`) because a newer one is there.
  void Detach(const std::string& worker, bool taken_over);
  // The worker was told what became of its result, so it no longer has this fence.
  void Answered(const std::string& worker, int64_t fence);
  // The device reports that it has been running this lease for `running_ns`, or runs nothing (fence
  // 0). A fence that is not one of its leases is ignored.
  void SeeRunning(const std::string& worker, const std::string& device, int64_t fence,
                  int64_t running_ns);

  // ---- leases ----
  // A lease was offered to a worker that is attached.
  Lease& Open(Lease lease);
  // Opens a lease that only the store knew.
  Held OpenHeld(Lease lease);
  // nullptr if it is not open.
  Lease* Find(int64_t fence);
  const Lease* Find(int64_t fence) const;
  void ForEach(const std::function<void(const Lease&)>& see) const {
    for (const auto& [fence, lease] : leases_) see(lease);
  }
  // 0 if the trial has no open lease.
  int64_t FenceOf(int64_t trial) const;
  // Ends an open lease, and notes which lease of the device is now the oldest.
  Lease Close(int64_t fence);

  // Whether the lease's device runs it, or may have run it when its worker went down.
  bool Ran(const Lease& lease) const;
  // When the lease is lost if nothing happens; nullopt if other leases of its device come first, or
  // its result is here.
  std::optional<int64_t> DeadlineNs(const Lease& lease) const;
  // Leases whose deadline has passed, by fence.
  std::vector<int64_t> Overdue() const;
  // Open leases of a device, in the order in which they were leased.
  std::vector<int64_t> OfDevice(const std::string& worker, const std::string& device) const;
  // Open leases of the worker that cannot be measured without this artifact.
  std::vector<int64_t> Needing(const std::string& worker, const std::string& digest) const;
  // The lease that the device runs; nullptr if there is none.
  const Lease* RunningOn(const std::string& worker, const std::string& device) const;

 private:
  // A worker whose stream is up.
  struct Attached {
    bool tells = false;
    // Fences that it came with and that are unknown here; any of its devices may be running them.
    std::set<int64_t> strays;
  };
  using DeviceKey = std::pair<std::string, std::string>;  // worker, device

  Lease& Add(Lease lease);
  // The worker came back with it.
  void Return(Lease& lease);
  // Notes which lease of the device is its oldest.
  void NameOldest(const DeviceKey& device);
  void NameOldestOf(const std::string& worker);
  bool IsRunning(const Lease& lease) const { return lease.started_ns.has_value(); }

  const Clock* const clock_;
  const int64_t grace_ns_;
  std::map<std::string, Attached> attached_;        // by worker
  std::map<int64_t, Lease> leases_;                 // by fence
  std::map<int64_t, int64_t> fence_of_;             // by trial
  std::map<DeviceKey, std::set<int64_t>> devices_;  // fences of those that have leases
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_LEASE_MANAGER_H_
