// The workers that are connected: what their devices are, may hold, and how they fare.
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
  uint64_t window = 0;  // leases that it may hold at once; of protocol 2: those it has credit for
  uint64_t open = 0;    // leases that it holds, or is about to be given
  uint64_t last_offer = 0;  // a number that grows with each offer of the fleet
  int64_t told_ns = 0;      // when its worker described it last
  std::string barred;       // what it lacks to be given anything; empty: nothing
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
  bool was_asked_to_drain = false;  // by an operator, and not since it began by itself
  bool is_to_stay = false;          // the operator's last word was that it does not drain
  int64_t last_message_ns = 0;
  uint64_t settled = 0;

  const std::string& worker() const { return hello.worker(); }
  // Whether its devices name what they run.
  bool tells() const { return protocol >= 3; }
  FleetDevice* FindDevice(const std::string& id);
};

// A device of a session; both null: none.
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
  // Whether a worker may join: names, versions, devices. The sentence says what to do.
  // kAlreadyExists: another live instance has the name. kPermissionDenied: the name is bound to
  // somebody else who dials.
  absl::Status MayJoin(const hone::v1::Hello& hello, const WorkerLink& link) const;
  // MayJoin allows it, and the session of the same name has ended.
  Session& Join(const std::shared_ptr<WorkerLink>& link, const hone::v1::Hello& hello);
  void Leave(const std::string& worker);
  // nullptr: there is none.
  Session* Find(const std::string& worker);
  Session* Find(const WorkerLink* link);
  std::map<std::string, Session>& sessions() { return sessions_; }

  // ---- devices ----
  // It came or is another than before; or it went (unplugged): its window is 0 until its worker
  // says otherwise. A session has at most so many.
  absl::Status Update(Session& session, const hone::v1::DeviceUpdate& update);
  // Whether a device that can measure code for the target, and is what is needed, takes a lease
  // now.
  bool HasRoom(const DeviceNeed& need);
  // The one of them to give it to: not of a worker to avoid, where there is another; with the
  // fewest leases; that was given one the longest ago.
  DeviceOf Choose(const DeviceNeed& need, const std::set<std::string>& avoid);
  // A lease is on its way to the device; nothing came of that; a lease of a worker that is back
  // goes on; a lease of the device has ended.
  void Take(FleetDevice& device);
  void TakeBack(FleetDevice& device);
  void Hold(Session& session, const std::string& device);
  void Give(const std::string& worker, const std::string& device);
  // That may be given work now: not draining, not at rest, not put aside.
  std::vector<ServedDevice> Served() const;

  // ---- health ----
  // A measurement of the trial was lost with its device; true: the trial is to blame, as far as
  // one can tell, and not the device. `why` is for people.
  bool Lost(const std::string& worker, const std::string& device, int64_t trial,
            const std::string& why);
  // A measurement was carried through. True: the device had rested, which is over and forgotten.
  bool Measured(const std::string& worker, const std::string& device);
  // A device that was never lost is a sound one.
  DeviceHealth HealthOf(const std::string& worker, const std::string& device) const;
  // The device's health is what an earlier life of the daemon knew.
  void SetHealth(const std::string& worker, const std::string& device, const DeviceHealth& health);
  // Forgets what was lost of the worker's device, or of all (empty), and says of which.
  std::vector<std::string> EndRests(const std::string& worker, const std::string& device);
  // Devices that operators put aside are given nothing.
  Quarantines& quarantines() { return quarantines_; }
  const Quarantines& quarantines() const { return quarantines_; }
  DeviceHistories& histories() { return histories_; }
  const DeviceHistories& histories() const { return histories_; }

 private:
  void Describe(const Session& session, const hone::v1::Device& info, FleetDevice* device);
  bool TakesLease(const Session& session, const FleetDevice& device) const;
  bool SharesWithBusy(const Session& session, const FleetDevice& device) const;
  // Those that can measure code for the target, and are what is needed.
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
  // Who dialled under each name, for as long as the daemon lives.
  std::map<std::string, std::string> bound_;
  uint64_t offers_ = 0;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_FLEET_H_
