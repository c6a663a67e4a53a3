// The leases that are open: where each is, since when it runs, and when its time is over.
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
  // What a result is compared with. Of a lease from before a restart it is what the store keeps.
  hone::v1::Assignment assignment;
  std::string worker;
  std::string instance;      // of the worker's life that was offered it; empty: unknown
  int64_t limit_ns = 0;      // how long its device may run it
  bool is_settling = false;  // its result is here: it can be lost no more

  // The rest is the manager's.
  int64_t offered_ns = 0;
  // When it became the oldest open lease of its device; nullopt: it is not.
  std::optional<int64_t> oldest_ns;
  // The longest that the device may take for what it ran instead while this one was its oldest.
  int64_t instead_ns = 0;
  // When its device began it, by the first word of that; nullopt: it has not said so.
  std::optional<int64_t> began_ns;
  // Its device runs it, and has since then; nullopt: it waits, or has stopped, or its worker is
  // back and has not said yet what runs.
  std::optional<int64_t> started_ns;
  // When its worker came back with it for the first time.
  std::optional<int64_t> returned_ns;
  // Its worker's stream has ended: until then it may come back.
  std::optional<int64_t> away_until_ns;
  // While it is away: what took the worker down may be this.
  bool is_suspect = false;

  int64_t fence() const { return assignment.fence(); }
  const std::string& device() const { return assignment.device(); }
};

// A pure state machine over a clock: it sends nothing and stores nothing. A lease runs from when
// its device says that it runs it. A device that does not say so (protocol 2) runs its oldest. Not
// thread-safe; the clock outlives it.
class LeaseManager {
 public:
  // What a worker that is back has, by fence.
  struct Returned {
    std::vector<int64_t> back;
    // It was given these and does not have them. Each keeps the blame that it has (Ran); none has
    // any where the same instance is back, for that has not gone down.
    std::vector<int64_t> lost;
  };
  // What is known of a lease from an earlier life of the daemon, or from another daemon.
  enum class Held {
    kAwaited,  // its worker is not there, and has the grace to come back
    kBack,     // its worker came back with it before
    kLost,     // its worker is there and does not have it
  };

  // `grace_ns`: how long a worker whose stream has ended may come back.
  LeaseManager(const Clock* clock, int64_t grace_ns) : clock_(clock), grace_ns_(grace_ns) {}

  // ---- workers ----
  // A stream of the worker is up, whose Hello named these fences. `tells`: its devices name what
  // they run.
  Returned Attach(const std::string& worker, const std::string& instance,
                  const std::set<int64_t>& held, bool tells);
  // The worker's stream has ended, by itself or (`taken_over`) because a newer one is there.
  void Detach(const std::string& worker, bool taken_over);
  // The worker was told what became of its result: it has this fence no more.
  void Answered(const std::string& worker, int64_t fence);
  // The device runs this one, and has for so long, or nothing (0). What is not its lease is
  // ignored.
  void SeeRunning(const std::string& worker, const std::string& device, int64_t fence,
                  int64_t running_ns);

  // ---- leases ----
  // A lease was offered to a worker that is attached.
  Lease& Open(Lease lease);
  // One that only the store knew.
  Held OpenHeld(Lease lease);
  // nullptr: it is not open.
  Lease* Find(int64_t fence);
  const Lease* Find(int64_t fence) const;
  void ForEach(const std::function<void(const Lease&)>& see) const {
    for (const auto& [fence, lease] : leases_) see(lease);
  }
  // 0: the trial has no open lease.
  int64_t FenceOf(int64_t trial) const;
  // It has ended, and the device's next oldest is named. It must be open.
  Lease Close(int64_t fence);

  // Whether its device runs it, or may have run it when its worker went down.
  bool Ran(const Lease& lease) const;
  // When it is lost if nothing happens; nullopt: others of its device come first, or its result is
  // here.
  std::optional<int64_t> DeadlineNs(const Lease& lease) const;
  // Leases whose deadline has passed, by fence.
  std::vector<int64_t> Overdue() const;
  // Open leases of a device, in the order in which they were leased.
  std::vector<int64_t> OfDevice(const std::string& worker, const std::string& device) const;
  // Open leases of the worker that cannot be measured without this artifact.
  std::vector<int64_t> Needing(const std::string& worker, const std::string& digest) const;
  // The lease that the device runs; nullptr: none.
  const Lease* RunningOn(const std::string& worker, const std::string& device) const;

 private:
  // A worker whose stream is up.
  struct Attached {
    bool tells = false;
    // What it came with and nobody here knows: any of its devices may be at it.
    std::set<int64_t> strays;
  };
  using DeviceKey = std::pair<std::string, std::string>;  // worker, device

  Lease& Add(Lease lease);
  // The worker came back with it.
  void Return(Lease& lease);
  // Sees to it that the oldest lease of the device is known as that.
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
