// The farm's dispatcher: leases trials to workers by credit, and sees every lease to its end.
//
// A lease ends in one of four ways: its worker's result is settled (then acknowledged), its worker
// is gone and did not come back with a result in time (then the trial is offered elsewhere), its
// device was lost (likewise), or its request is cancelled (then the worker is told). Fences make
// sure that whatever a worker says afterwards changes nothing, and a fence is good for the worker
// that it was given to only.
//
// A trial is blamed (a strike) when its worker goes down while it runs, and when its device is lost
// under it but carries the next measurement through; at once, where it alone is lost on a device
// again and again. Otherwise the device is blamed (device_health.h), and the trial waits for a
// better one as long as it takes.
#ifndef HONE_TUNER_FARM_DISPATCHER_H_
#define HONE_TUNER_FARM_DISPATCHER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/clock.h"
#include "support/version.h"
#include "tuner/executor.h"
#include "tuner/farm/artifact_store.h"
#include "tuner/farm/device_health.h"
#include "tuner/farm/served_devices.h"
#include "tuner/farm/worker_link.h"
#include "tuner/measurer.h"
#include "tuning_db/store.h"

namespace hone::tuner {

struct DispatcherOptions {
  std::string daemon = std::string("hone ") + Version();
  int64_t heartbeat_interval_ns = 2'000'000'000;
  // A worker that said nothing for so many intervals is taken for gone.
  int silent_intervals = 5;
  // How long a gone worker may come back with a result.
  int64_t grace_ns = 5'000'000'000;
  // A trial with so many strikes is given up, not offered again.
  int poison_limit = 3;
  // A measurement may take as long as its runs may, and this longer (transfer, sandbox, check).
  int64_t lease_slack_ns = 60'000'000'000;
  QuarantineRule quarantine = {};
  uint64_t artifact_bytes = uint64_t{64} << 20;
};

// Public functions may be called from any thread; they post to `executor`, where all the rest
// happens, callbacks of Measure included. The executor must have stopped or drained when the
// dispatcher is destroyed; store and clock outlive it.
class Dispatcher : public Measurer {
 public:
  // `on_devices_changed` is called on the executor when Serves may answer otherwise than before;
  // nullptr: nobody asks.
  Dispatcher(DispatcherOptions options, tuning_db::Store* store, const Clock* clock,
             Executor* executor, std::function<void()> on_devices_changed = nullptr)
      : options_(std::move(options)),
        store_(store),
        clock_(clock),
        executor_(executor),
        on_devices_changed_(std::move(on_devices_changed)),
        artifacts_(options_.artifact_bytes) {}

  void Measure(MeasureRequest request, MeasureCallback done) override;
  void Cancel(int64_t trial) override;
  // Connected, not draining, not in quarantine. Answers at once, from any thread.
  bool Serves(const std::string& target) const override { return served_.Serves(target); }

  // What a worker sent, in order; the first must be Hello. A stream that must end is closed.
  void Receive(std::shared_ptr<WorkerLink> link, hone::v1::WorkRequest message);
  // The stream has ended.
  void Closed(std::shared_ptr<WorkerLink> link);

  // By name. `done` runs on the executor.
  void ListWorkers(std::function<void(std::vector<hone::v1::WorkerInfo>)> done);
  // kNotFound: no such worker.
  void DrainWorker(const std::string& worker, std::function<void(absl::Status)> done);

  // To be called a few times a second: heartbeats, lost workers, leases that have run out.
  void Tick();
  // No new leases from here on; results still settle.
  void StopLeasing();
  // Ends every stream: the daemon stops. Workers keep what they hold and come back.
  void CloseAll();

 private:
  struct Pending {
    MeasureRequest request;
    MeasureCallback done;
    int strikes = 0;
    std::set<std::string> avoid;  // workers whose device was lost under it: the last to be asked
  };
  struct Lease {
    std::shared_ptr<Pending> pending;
    std::string worker;
    std::string device;
    bool attached = false;     // its worker's stream is up
    int64_t deadline_ns = 0;   // then it is lost. kNever: others of its device come first
    bool was_running = false;  // when the stream ended: what took the worker down may be this
  };
  struct DeviceState {
    hone::v1::Device info;
    uint64_t credit = 0;
    std::deque<int64_t> leases;  // fences in the order of the offers: the first one runs
  };
  struct Session {
    std::shared_ptr<WorkerLink> link;
    hone::v1::Hello hello;
    std::map<std::string, DeviceState> devices;
    bool draining = false;
    int64_t last_message_ns = 0;
    uint64_t settled = 0;
  };
  using Sessions = std::map<std::string, Session>;

  void DoMeasure(MeasureRequest request, MeasureCallback done);
  void DoCancel(int64_t trial);
  void DoReceive(const std::shared_ptr<WorkerLink>& link, const hone::v1::WorkRequest& message);
  void DoTick();

  absl::Status Check(const hone::v1::Hello& hello) const;
  void Welcome(const std::shared_ptr<WorkerLink>& link, const hone::v1::Hello& hello);
  void Reconcile(const hone::v1::Hello& hello);
  void Detach(Sessions::iterator session);
  void SendArtifact(Session& session, const std::string& digest);
  void TakeResult(Session& session, const hone::v1::MeasureResult& result);
  void TakeUnknownResult(Session& session, const hone::v1::MeasureResult& result);
  absl::StatusOr<tuning_db::SettleResult> SettleUnknown(const std::string& worker,
                                                        const hone::v1::MeasureResult& result);
  void TakeDeviceLost(Session& session, const hone::v1::MeasureResult& result,
                      const std::string& why);
  // The device carried a measurement through: what was lost on it before gets a strike.
  void Trust(const Lease& lease);
  void Answer(Session& session, int64_t fence, tuning_db::SettleResult settled);

  // To be called after whatever changes which devices take work.
  void UpdateServed();
  // Offers what can be offered.
  void Match();
  bool Offer(const std::shared_ptr<Pending>& pending, Session& session, DeviceState& device);
  void Enqueue(std::shared_ptr<Pending> pending);
  std::pair<Session*, DeviceState*> FindDevice(const Pending& pending);
  bool TakesWork(const std::string& worker, const DeviceState& device) const;
  void GiveUpPoison(const Pending& pending);
  // The lease has ended without a result: the trial is released and offered again.
  void Lose(int64_t fence, bool is_strike);
  void LoseOverdue(int64_t fence);
  void Forget(int64_t fence);
  // How long one measurement may take, once it is its device's first.
  int64_t LimitNs(const MeasureRequest& request) const;
  // The time of the device's first lease begins to run.
  void StartFirst(const DeviceState& device);
  static DeviceState* FindDeviceOf(Session& session, const std::string& device);
  // Of a device that was never lost: a sound one.
  DeviceHealth HealthOf(const std::string& worker, const std::string& device) const;
  Sessions::iterator FindSession(const WorkerLink* link);

  const DispatcherOptions options_;
  tuning_db::Store* const store_;
  const Clock* const clock_;
  Executor* const executor_;
  const std::function<void()> on_devices_changed_;
  ServedDevices served_;

  // Touched on the executor only.
  ArtifactStore artifacts_;
  Sessions sessions_;
  // Of those that were lost since their last success, by worker and id: it outlives sessions.
  std::map<std::pair<std::string, std::string>, DeviceHealth> health_;
  std::list<std::shared_ptr<Pending>> queue_;  // greater priority first, then first come
  std::map<int64_t, Lease> leases_;            // by fence
  int64_t last_heartbeat_ns_ = 0;
  bool leasing_ = true;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_DISPATCHER_H_
