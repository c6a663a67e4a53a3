// The workers that are connected, and their devices with their leases and their health.
#ifndef HONE_TUNER_FARM_FLEET_H_
#define HONE_TUNER_FARM_FLEET_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "hone/v1/farm.pb.h"
#include "support/clock.h"
#include "tuner/device_need.h"
#include "tuner/farm/device_health.h"
#include "tuner/farm/device_history.h"
#include "tuner/farm/quarantines.h"
#include "tuner/farm/served_devices.h"
#include "tuner/farm/worker_link.h"

namespace hone::tuner {

// The newest protocol; the one before it is spoken too (docs/protocol.md, Versions).
inline constexpr uint32_t kFarmProtocol = 3;
inline constexpr uint32_t kOldestFarmProtocol = 2;

// The longest name of a worker or a device.
inline constexpr size_t kMostNameBytes = 256;

struct FleetDevice {
  hone::v1::Device info;
  uint64_t window = 0;  // leases that it may hold at once; with protocol 2, those it has credit for
  uint64_t open = 0;    // leases that it holds, or is about to be given
  uint64_t last_offer = 0;  // a number that grows with each offer of the fleet
  int64_t told_ns = 0;      // when its worker described it last
  std::string barred;       // why it is given nothing; empty if it may get work
  bool is_away = false;     // it went, and may come back
  std::string away_reason;  // why it went

  bool HasRoom() const { return open < window; }
  bool takes_work() const { return !is_away && barred.empty(); }
};

struct Session {
  std::shared_ptr<WorkerLink> link;
  hone::v1::Hello hello;
  uint32_t protocol = 0;
  std::map<std::string, FleetDevice> devices;  // by id
  bool is_draining = false;
  bool was_asked_to_drain = false;  // by an operator, so it did not begin to drain by itself
  bool is_to_stay = false;          // the last thing an operator said was not to drain
  int64_t last_message_ns = 0;
  uint64_t settled = 0;

  const std::string& worker() const { return hello.worker(); }
  // Whether the worker says which lease each device runs.
  bool tells() const { return protocol >= 3; }
  FleetDevice* FindDevice(const std::string& id);
};

// A device and its session; both are null if there is none.
struct DeviceOf {
  Session* session = nullptr;
  FleetDevice* device = nullptr;
};

// Not thread-safe; the clock outlives it. Pointers to sessions and devices are good until the
// session ends or its devices change.
class Fleet {
 public:
  // `sandbox`: the least that a device's candidates must run in.
  Fleet(const Clock* clock, QuarantineRule rule,
        hone::v1::SandboxLevel sandbox = hone::v1::SANDBOX_LEVEL_UNSPECIFIED)
      : clock_(clock), rule_(rule), sandbox_(sandbox) {}

  // ---- sessions ----

  // Checks whether a worker may join, by its names, versions and devices. The error says what to
  // do. kAlreadyExists if another live instance has the name; kPermissionDenied if the name belongs
  // to another caller.
  absl::Status MayJoin(const hone::v1::Hello& hello, const WorkerLink& link) const;
  // Requires that MayJoin allows it, and that an earlier session of the same name has ended.
  Session& Join(const std::shared_ptr<WorkerLink>& link, const hone::v1::Hello& hello);
  void Leave(const std::string& worker);
  // nullptr: there is none.
  Session* Find(const std::string& worker);
  Session* Find(const WorkerLink* link);
  std::map<std::string, Session>& sessions() { return sessions_; }

  // ---- devices ----

  // A device has come or has changed, or was unplugged; then its window is 0 until its worker says
  // otherwise. The number of a session's devices is bounded.
  absl::Status Update(Session& session, const hone::v1::DeviceUpdate& update);
  // Whether some device that meets the need takes a lease now.
  bool HasRoom(const DeviceNeed& need);
  // The device to give the lease to. Devices of other workers than those to avoid come first, then
  // those with the fewest leases, then those that were given one the longest ago.
  DeviceOf Choose(const DeviceNeed& need, const std::set<std::string>& avoid);
  // These four count the leases of a device. Take: a lease is on its way to the device. TakeBack:
  // that lease did not reach it. Hold: a lease goes on that a returning worker holds. Give: a lease
  // has ended.
  void Take(FleetDevice& device);
  void TakeBack(FleetDevice& device);
  void Hold(Session& session, const std::string& device);
  void Give(const std::string& worker, const std::string& device);
  // The devices that may be given work now: not draining and not in quarantine.
  std::vector<ServedDevice> Served() const;

  // ---- health ----

  // A measurement of the trial was lost with its device. Returns what DeviceHealth::Lost says;
  // `why` is for people.
  bool Lost(const std::string& worker, const std::string& device, int64_t trial,
            const std::string& why);
  // A measurement succeeded, and the device's losses are forgotten. True if it had been in
  // quarantine for them.
  bool Measured(const std::string& worker, const std::string& device);
  // A device that was never lost has a sound health.
  DeviceHealth HealthOf(const std::string& worker, const std::string& device) const;
  // Sets a device's health to what an earlier life of the daemon stored.
  void SetHealth(const std::string& worker, const std::string& device, const DeviceHealth& health);
  // Forgets the losses of the worker's device, or of all its devices if `device` is empty, and
  // returns which devices had any.
  std::vector<std::string> EndRests(const std::string& worker, const std::string& device);
  // The quarantines that operators set; devices under them are given nothing.
  Quarantines& quarantines() { return quarantines_; }
  const Quarantines& quarantines() const { return quarantines_; }
  DeviceHistories& histories() { return histories_; }
  const DeviceHistories& histories() const { return histories_; }

 private:
  void Describe(const Session& session, const hone::v1::Device& info, FleetDevice* device);
  bool TakesLease(const Session& session, const FleetDevice& device) const;
  bool SharesWithBusy(const Session& session, const FleetDevice& device) const;
  // The devices that meet the need.
  const std::vector<DeviceOf>& DevicesFor(const DeviceNeed& need);
  void ForgetGoneDevices(const std::string& but_of);

  const Clock* const clock_;
  const QuarantineRule rule_;
  const hone::v1::SandboxLevel sandbox_;
  std::map<std::string, Session> sessions_;  // by worker
  std::unordered_map<const WorkerLink*, std::string> worker_of_;
  // The devices for each need that was asked for; it is emptied when devices come or go.
  std::map<DeviceNeed, std::vector<DeviceOf>> devices_for_;
  // Devices that were lost since their last success, by worker and id: it outlives sessions.
  std::map<std::pair<std::string, std::string>, DeviceHealth> health_;
  Quarantines quarantines_;
  DeviceHistories histories_;
  // The identity of the caller that owns each worker's name. Names of workers that are gone are
  // kept up to a bound.
  std::map<std::string, std::string> bound_;
  uint64_t offers_ = 0;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_FLEET_H_
