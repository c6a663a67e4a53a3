// A worker as docs/protocol.md has it, in virtual time, with whatever may be wrong with one.
#ifndef HONE_TESTS_FARM_SIMULATOR_SIM_WORKER_H_
#define HONE_TESTS_FARM_SIMULATOR_SIM_WORKER_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/farm_simulator/network.h"

namespace hone::sim {

struct WorkerTraits {
  std::string name;
  std::string target;
  int devices = 1;
  bool shares_cores = false;  // its devices exclude one another
  bool crowds = false;        // and run at once all the same: a bug that tests plant
  uint32_t window = 2;        // leases a device takes at once
  uint32_t max_protocol = 3;
  int64_t measure_ns = 100 * kMillisecond;  // of one candidate, about
  // After so many measurements its devices never answer again, while its heartbeats go on; none:
  // that never comes.
  std::optional<int> hangs_after = std::nullopt;
  bool lies = false;              // its results say what is not so
  double lost_share = 0;          // of its measurements that lose the device
  int64_t clock_off_ns = 0;       // how wrong its clock is
  std::set<int64_t> lethal = {};  // trials that kill any worker
};

// What a worker reports for an assignment whose artifacts these are. `serial`: no two measurements
// of a simulation have the same.
using MeasureFunction = std::function<hone::v1::MeasureResult(
    const hone::v1::Assignment& assignment, const std::vector<std::string>& artifacts,
    int64_t serial)>;

class SimWorker : public WorkerPort {
 public:
  SimWorker(EventQueue* queue, Network* network, History* history, WorkerTraits traits,
            MeasureFunction measure);
  ~SimWorker() override;

  const WorkerTraits& traits() const { return traits_; }
  bool is_up() const { return !life_->is_over(); }
  // A new instance of it dials.
  void Start();
  // At once: all that it holds is gone.
  void Kill();
  // It takes nothing new, delivers what it holds and leaves.
  void Drain();
  // A device is gone until Replug.
  void Unplug();
  void Replug();
  // It dials anew although its stream is up: the daemon sees two of them.
  void DialTwice();

  void OnMessage(const hone::v1::WorkResponse& message) override;
  void OnEnd(const absl::Status& status) override;

  std::function<void()> on_down;  // it was killed or has left

 private:
  struct Run {
    hone::v1::Assignment assignment;
    int64_t began_ns = 0;
    int64_t serial = 0;
  };
  struct Device {
    hone::v1::Device info;
    bool is_gone = false;
    bool was_gone = false;  // when the Hello of this stream was said
    std::deque<hone::v1::Assignment> queue;
    std::optional<Run> run;
  };

  void Dial();
  void Redial();
  void Beat();
  // A worker of protocol 3 says in it what its devices run.
  void SendHeartbeat();
  void Send(const hone::v1::WorkRequest& message);
  void SendHello();
  // After Welcome, or, of an old release, at once.
  void SendHeld();
  void GiveWindow(const Device& device);
  // Protocol 2: it takes so many more.
  void GiveCredit(const Device& device, int count);
  void SendDeviceUpdate(const Device& device);
  // What has changed since the Hello.
  void SendDeviceChanges();

  void TakeAssignment(const hone::v1::Assignment& assignment);
  void TakeChunk(const hone::v1::ArtifactChunk& chunk);
  void TakeRevoke(int64_t fence);
  bool HasArtifacts(const hone::v1::Assignment& assignment) const;
  void Advance();
  bool IsBusyBeside(const Device& device) const;
  void Begin(Device& device);
  void Finish(const std::string& id, int64_t serial);
  void EndRun(Device& device, const std::string& how, const Echo& echo);
  void Keep(const hone::v1::MeasureResult& result);
  // A fault of it happens.
  void Note(Fault fault);
  // Changes the result, and says how.
  std::string Lie(hone::v1::MeasureResult& result);
  void LeaveIfDone();
  void GoDown(bool is_killed);

  Device* Find(const std::string& id);
  int64_t Now() const { return clock_.NowNs(); }

  EventQueue* const queue_;
  Network* const network_;
  History* const history_;
  const WorkerTraits traits_;
  const MeasureFunction measure_;
  const SimClock clock_;

  std::shared_ptr<Life> life_ = std::make_shared<Life>();
  std::string instance_;
  int measured_ = 0;
  std::shared_ptr<Stream> stream_;
  uint32_t protocol_ = 0;  // 0: no Welcome yet
  int64_t interval_ns_ = 2 * kSecond;
  int64_t last_heard_ns_ = 0;
  int64_t backoff_ns_ = 0;
  bool is_draining_ = false;
  std::map<std::string, Device> devices_;
  std::map<int64_t, hone::v1::MeasureResult> held_;
  std::map<std::string, std::string> artifacts_;
  std::set<std::string> fetching_;
};

}  // namespace hone::sim

#endif  // HONE_TESTS_FARM_SIMULATOR_SIM_WORKER_H_
