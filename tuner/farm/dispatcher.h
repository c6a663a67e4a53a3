// The farm's dispatcher, which takes the messages of workers and sends them theirs. It leaves
// decisions to others: the queues choose the next trial (fair_queue.h), the fleet chooses its
// device (fleet.h), the lease manager says when a lease is over (lease_manager.h), and assignment.h
// says whether a result is believed.
//
// A lease ends in one of four ways: its worker's result is settled (then acknowledged), its worker
// is gone and did not come back with a result in time (then the trial is offered elsewhere), its
// device was lost or took too long (likewise), or its request is cancelled (then the worker is
// told). Fences make sure that whatever a worker says afterwards changes nothing. A fence is valid
// only for the worker that it was given to.
//
// A trial is blamed (a strike, which the store keeps) when its worker goes down while it runs, and
// when its device is lost while it runs, if that device was sound or was lost under this trial
// only. Otherwise the device is blamed (device_health.h), and the trial waits for a better one as
// long as it takes.
#ifndef HONE_TUNER_FARM_DISPATCHER_H_
#define HONE_TUNER_FARM_DISPATCHER_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/clock.h"
#include "support/version.h"
#include "tuner/executor.h"
#include "tuner/farm/artifact_server.h"
#include "tuner/farm/device_health.h"
#include "tuner/farm/fair_queue.h"
#include "tuner/farm/farm_counts.h"
#include "tuner/farm/farm_figures.h"
#include "tuner/farm/fleet.h"
#include "tuner/farm/lease_manager.h"
#include "tuner/farm/pending_trial.h"
#include "tuner/farm/reference_doubts.h"
#include "tuner/farm/releases.h"
#include "tuner/farm/served_devices.h"
#include "tuner/farm/stray_results.h"
#include "tuner/farm/worker_link.h"
#include "tuner/mailbox.h"
#include "tuner/measurer.h"
#include "tuning_db/store.h"

namespace hone::tuner {

struct DispatcherOptions {
  std::string daemon = std::string("hone ") + Version();
  int64_t heartbeat_interval_ns = 2'000'000'000;
  // A worker that is silent for this many intervals counts as gone.
  int silent_intervals = 5;
  // How long a new stream may take to send Hello.
  int64_t hello_limit_ns = 10'000'000'000;
  // How long a gone worker may come back with a result.
  int64_t grace_ns = 30'000'000'000;
  // A trial with this many strikes is given up and not offered again.
  int64_t poison_limit = 3;
  // How much longer than its runs' limits a measurement may take (for transfer, sandbox and check).
  int64_t lease_slack_ns = 60'000'000'000;
  QuarantineRule quarantine = {};
  // The weakest sandbox with which a device is given candidates.
  hone::v1::SandboxLevel sandbox = hone::v1::SANDBOX_LEVEL_UNSPECIFIED;
  uint64_t artifact_bytes = uint64_t{64} << 20;
  // The ownership with which the dispatcher leases and releases trials of jobs; epoch 0 is not
  // checked.
  tuning_db::Ownership ownership = {};
};

// Public functions may be called from any thread. They post to `executor`, where everything else
// happens, including the callbacks of Measure. The executor must have stopped or drained when the
// dispatcher is destroyed; store, clock and executor outlive it.
class Dispatcher : public Measurer {
 public:
  // `on_devices_changed` is called on the executor when the answers of Serves may have changed; it
  // may be nullptr.
  Dispatcher(DispatcherOptions options, tuning_db::Store* store, const Clock* clock,
             Executor* executor, std::function<void()> on_devices_changed = nullptr);
  ~Dispatcher() override;

  void Measure(MeasureRequest request, MeasureCallback done) override;
  void Cancel(int64_t trial) override;
  // Whether a connected device that is neither draining nor in quarantine meets the need. Answers
  // at once, from any thread.
  bool Serves(const DeviceNeed& need) const override { return served_.Serves(need); }
  std::string HostTarget(const std::string& target) const override {
    return served_.HostTarget(target);
  }
  uint64_t Windows(const DeviceNeed& need) const override { return served_.Windows(need); }

  // A worker has connected; it has hello_limit_ns to send Hello.
  void Opened(std::shared_ptr<WorkerLink> link);
  // What a worker sent, in order; the first must be Hello. A stream that must end is closed.
  void Receive(std::shared_ptr<WorkerLink> link, hone::v1::WorkRequest message);
  // The stream has ended.
  void Closed(std::shared_ptr<WorkerLink> link);

  // ---- for operators ----

  // Callbacks run on the executor; farm.proto describes requests and answers.
  struct Workers {
    std::vector<hone::v1::WorkerInfo> workers;   // by name
    std::vector<tuning_db::Quarantine> of_gone;  // of workers that are not connected
  };
  // Lists all workers, or only the named one with all that is known of it.
  void ListWorkers(const std::string& worker, std::function<void(Workers)> done);
  // kNotFound if no such worker is connected. UndrainWorker answers once the worker has said that
  // it stays; kFailedPrecondition if it does not drain, leaves all the same or does not answer, and
  // kAborted if it is drained again meanwhile.
  void DrainWorker(const std::string& worker, std::function<void(absl::Status)> done);
  void UndrainWorker(const std::string& worker, std::function<void(absl::Status)> done);
  using QuarantineCallback =
      std::function<void(absl::StatusOr<hone::v1::QuarantineWorkerResponse>)>;
  // The worker may be one that is not connected.
  void QuarantineWorker(const tuning_db::Quarantine& quarantine, QuarantineCallback done);
  using ReleaseCallback = std::function<void(absl::StatusOr<hone::v1::ReleaseWorkerResponse>)>;
  // Ends quarantines by operators, and rests of devices that lost measurements. kNotFound if there
  // are none.
  void ReleaseWorker(const std::string& worker, const std::string& device, ReleaseCallback done);
  // Gives the farm's figures to `done`, on the executor.
  void Figures(std::function<void(FarmFigures)> done);
  // Takes over the quarantines that were read from the store, since another daemon may have changed
  // them. `change` is what QuarantineChange gave before they were read; they are ignored if this
  // daemon has changed its own since then.
  int64_t QuarantineChange() const { return quarantine_change_; }
  void SetQuarantines(std::vector<tuning_db::Quarantine> all, int64_t change);

  // Called a few times a second, for heartbeats, lost workers and leases that have run out.
  void Tick();
  // No new leases from here on; results still settle.
  void StopLeasing();
  // Ends the streams of all workers because the daemon stops. Workers keep their results and come
  // back.
  void CloseAll();

 private:
  // A trial on its way to a device: the store is about to lease it.
  struct Offer {
    std::shared_ptr<PendingTrial> pending;
    std::string worker;
    std::string device;
    std::shared_ptr<WorkerLink> link;
    int64_t limit_ns = 0;
  };

  // How a result is counted, and for which device.
  struct Measured {
    std::string worker;
    std::string device;
    std::string outcome;
    int64_t since_ns = 0;  // when it came
  };
  // Operators' calls that wait for a worker to say that it no longer drains.
  struct Undrains {
    int64_t until_ns = 0;
    std::vector<std::function<void(absl::Status)>> waiting;
  };

  // ---- requests ----
  void DoMeasure(MeasureRequest request, MeasureCallback done);
  // Takes up a trial that has a lease which only the store knows.
  void TakeUp(const std::shared_ptr<PendingTrial>& pending);
  void DoCancel(int64_t trial);
  void Enqueue(std::shared_ptr<PendingTrial> pending);
  void GiveUpPoison(const PendingTrial& pending);

  // ---- offers ----
  // Offers what can be offered.
  void Match();
  // Asks the store to lease the trials that are on their way to a device.
  void AskForLeases();
  void OnLeased(const Offer& offer, const absl::StatusOr<tuning_db::Trial>& leased);
  void Assign(const Offer& offer, const tuning_db::Trial& leased, Session& session);

  // ---- what workers say ----
  void DoReceive(const std::shared_ptr<WorkerLink>& link, const hone::v1::WorkRequest& message);
  void DoReceiveFrom(Session& session, const hone::v1::WorkRequest& message);
  void Join(const std::shared_ptr<WorkerLink>& link, const hone::v1::Hello& hello);
  void TakeHeartbeat(Session& session, const hone::v1::Heartbeat& heartbeat);
  void TakeDeviceUpdate(Session& session, const hone::v1::DeviceUpdate& update);
  void TakeFetch(Session& session, const std::string& digest);
  void PutWhatLeasesHold(const std::string& worker, const std::string& digest);
  void TakeResult(Session& session, const hone::v1::MeasureResult& result);
  static const FleetDevice* DeviceOfResult(Session& session, const hone::v1::MeasureResult& result,
                                           const std::string& known);
  void OnSettled(int64_t fence, const Measured& measured,
                 const absl::StatusOr<tuning_db::SettleResult>& settled);
  void OnStraySettled(int64_t fence, const Measured& measured,
                      const absl::StatusOr<tuning_db::SettleResult>& settled,
                      const std::string& why);
  void Count(const Measured& measured, tuning_db::SettleResult settled);
  // `reason` is what the worker is told if the result was refused.
  void Answer(const std::string& worker, int64_t fence, tuning_db::SettleResult settled,
              const std::string& reason = "its lease is over");

  // ---- ends ----
  // The session's stream has ended; its worker may come back with its leases in the grace period.
  void End(Session& session, bool taken_over);
  void Revoke(const std::string& worker, int64_t fence, const std::string& reason);
  // Whether another worker has to be asked, because the result says that the reference does not
  // run.
  bool IsDoubted(const Lease& lease, const std::string& worker,
                 const hone::v1::MeasureResult& result);
  // The device failed under the lease, or its worker broke the protocol. `ran` says that the trial
  // was running and may be the cause.
  void LoseDevice(int64_t fence, bool ran, const std::string& why);
  // The lease has ended without a result: the trial is released, then offered again.
  void Lose(int64_t fence, bool is_strike);
  void OnReleased(const std::shared_ptr<PendingTrial>& pending, int64_t fence,
                  const std::string& worker);
  // The trial is no longer between the queue and a device.
  void Arrive(const std::shared_ptr<PendingTrial>& pending);
  void LoseOverdue(int64_t fence);
  Lease Close(int64_t fence);
  void LoadHealth();
  void StoreHealth(const std::string& worker, const std::string& device);

  // ---- operators ----
  void DoUndrain(const std::string& worker, std::function<void(absl::Status)> done);
  void TakeUndrained(Session& session, const hone::v1::Undrained& undrained);
  void AnswerUndrains(const std::string& worker, const absl::Status& status);
  // Stops waiting for workers that do not answer, as those of an older release do not.
  void GiveUpUndrains(int64_t now_ns);
  absl::StatusOr<hone::v1::QuarantineWorkerResponse> DoQuarantine(
      const tuning_db::Quarantine& quarantine);
  absl::StatusOr<hone::v1::ReleaseWorkerResponse> DoRelease(const std::string& worker,
                                                            const std::string& device);
  // Ends the quarantines of devices that lost measurements, and returns their names.
  std::vector<std::string> EndRests(const std::string& worker, const std::string& device);

  // ---- figures (dispatcher_figures.cc) ----
  const char* StateOfDevice(const Session& session, const FleetDevice& device) const;
  void CountWorkers(FarmFigures& figures);

  // ---- time ----
  void DoTick();
  void EndSilent(int64_t now_ns);
  void SendHeartbeats(int64_t now_ns);
  // To be called after whatever changes which devices take work.
  void UpdateServed();

  const DispatcherOptions options_;
  tuning_db::Store* const store_;
  const Clock* const clock_;
  Executor* const executor_;
  const std::shared_ptr<Mailbox> mailbox_;  // for what the store and streams call back
  const std::function<void()> on_devices_changed_;
  ServedDevices served_;
  std::atomic<int64_t> quarantine_change_ = 0;  // grows on the executor

  // Touched on the executor only.
  FarmCounts counts_;
  Fleet fleet_;
  TargetQueues queues_;
  LeaseManager leases_;
  ArtifactServer artifacts_;
  StrayResults strays_;
  ReferenceDoubts doubts_;
  Releases releases_;
  // Trials between the queue and a device: the store is to lease or to release them.
  std::map<int64_t, std::shared_ptr<PendingTrial>> underway_;
  // Whose lease the store was not asked for yet, in the order in which they were chosen.
  std::deque<Offer> offers_;
  // Devices by worker and id, of which the store does not know yet how they fare.
  std::set<std::pair<std::string, std::string>> unstored_health_;
  bool asks_at_tick_ = false;  // the store failed in a way that passes: not before the next one
  std::map<std::string, Undrains> undrains_;  // by worker
  // Streams that have not said Hello, and since when.
  std::map<std::shared_ptr<WorkerLink>, int64_t> strangers_;
  int64_t last_heartbeat_ns_ = 0;
  bool leasing_ = true;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_DISPATCHER_H_
