// The worker's side of the farm's protocol (docs/protocol.md) without the network: connects one
// stream with the devices.
#ifndef HONE_MEASURE_SERVER_ROUTER_H_
#define HONE_MEASURE_SERVER_ROUTER_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hone/v1/farm.pb.h"
#include "measure_server/artifact_cache.h"
#include "measure_server/artifact_inbox.h"
#include "measure_server/device_queue.h"
#include "measure_server/measurer.h"
#include "support/clock.h"

namespace hone::measure {

struct RouterOptions {
  hone::v1::Hello hello;  // without held fences
  // How many assignments a device holds at a time, so that artifacts arrive while others are
  // measured.
  uint32_t window = 3;
  // How many more than that some devices hold, by their ids, because they load those ahead.
  std::map<std::string, uint32_t> ahead;
  uint64_t artifact_cache_bytes = uint64_t{256} << 20;
  uint64_t max_artifact_bytes = uint64_t{1} << 30;
  // Called when what the device measures under the fence is no longer wanted. Must not block. May
  // be empty.
  std::function<void(const std::string& device, int64_t fence)> cancel;
};

// Gives each device its assignments in the order in which they came, and never two at once to
// devices that share a resource. Keeps each result until it is acknowledged or its lease was given
// to another worker, over any number of streams. Thread-safe: each device has a thread, and the
// stream has another.
class Router {
 public:
  using Send = std::function<void(hone::v1::WorkRequest)>;

  Router(RouterOptions options, const Clock* clock);

  // ---- the stream ----
  // Begins a stream. `send` is called until Disconnected has returned, and must not block.
  // Assignments that waited from an earlier stream are dropped, since their leases were lost with
  // it. `finished` is called at least once when the worker has finished, under the same rules as
  // `send`.
  void Connected(Send send, std::function<void()> finished = nullptr);
  void Receive(const hone::v1::WorkResponse& message);
  void Disconnected();
  // Both are 0 before the daemon's Welcome.
  int64_t heartbeat_interval_ns() const;
  int64_t silence_limit_ns() const;
  // A heartbeat that tells what runs now, and for how long.
  hone::v1::WorkRequest HeartbeatMessage() const;

  // ---- a device's thread ----
  // Blocks until the device has a job. nullopt if the device's thread is to end.
  std::optional<Job> Next(const std::string& device);
  // The first jobs that are ready now, `count` at most. Next returns these next, unless they are
  // revoked or an older one becomes ready.
  std::vector<Job> Ahead(const std::string& device, uint32_t count) const;
  void Finish(const std::string& device, hone::v1::MeasureResult result);
  // Says that the device can measure nothing more. When the last device is lost, the worker
  // finishes.
  void Lose(const std::string& device, const std::string& reason);

  // ---- devices that come and go ----
  // Says that the device is away: what it was given is lost, and it gets nothing until Update.
  void Unplug(const std::string& device, const std::string& reason);
  // Says that the device is back, or was calibrated again. Its id must be one of the Hello's.
  void Update(const hone::v1::Device& device);

  // ---- the end ----
  // Takes no new assignments, and finishes once those that it has are done. The daemon cannot undo
  // this.
  void Drain();
  // Gives back what was not measured yet. It is measured elsewhere, and no candidate is blamed.
  // Results are still delivered.
  void GiveUp(const std::string& reason);
  // Stops at once, and drops what it has.
  void Stop();
  bool is_draining() const;
  // Whether there is nothing left to measure or deliver, and nothing will come.
  bool is_finished();
  // Waits until the worker is finished, but no longer than `limit_ns`. Returns whether it is.
  bool AwaitFinished(int64_t limit_ns);

 private:
  // Null if there is none.
  DeviceQueue* FindDevice(const std::string& id) const;
  bool MayBegin(const DeviceQueue& device) const;
  // Wakes everybody who waits, and calls `finished_` if the worker is finished.
  void Changed();
  // Cancels what the device runs, which nobody wants.
  void CancelRunning(DeviceQueue& device);
  // Marks the device as away or lost, and everything that it has as lost.
  void GiveUpDevice(DeviceQueue& device, DeviceQueue::Presence presence, const std::string& reason);
  // A change of a device, and the assignments that were lost with it.
  struct DeviceChange {
    hone::v1::DeviceUpdate update;
    std::vector<hone::v1::Assignment> lost;
  };
  // Tells the daemon of the change, in the messages of its protocol version.
  void Tell(const DeviceChange& change);

  void TakeWelcome(const hone::v1::Welcome& welcome);
  void TakeAssignment(const hone::v1::Assignment& assignment);
  void TakeChunk(const hone::v1::ArtifactChunk& chunk);
  void TakeArtifact(const std::string& digest, const std::string& bytes);
  void Fetch(const std::string& digest);
  // Ends the assignments that need the artifact with this outcome, or without a result if it is
  // MEASURE_OUTCOME_UNSPECIFIED.
  void DropNeeding(const std::string& digest, hone::v1::MeasureOutcome outcome,
                   const std::string& message);
  void TakeRevoke(int64_t fence);
  void Keep(hone::v1::MeasureResult result);
  // Whether the daemon speaks protocol 3 or later, in which heartbeats name what runs and devices
  // have windows.
  bool tells() const;
  // Lets the daemon assign to the device: by a window, or by credit in protocol 2.
  void OpenWindow(const DeviceQueue& device);
  uint32_t WindowOf(const std::string& device) const;
  void GiveCredit(const std::string& device, uint32_t count);
  void AddRunning(hone::v1::Heartbeat& heartbeat) const;
  void EmitRunning();
  void Emit(hone::v1::WorkRequest message);
  void BeginDraining();
  void TakeUndrain();
  bool IsFinished();

  const RouterOptions options_;
  const Clock* const clock_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Send send_;  // empty: no stream
  std::function<void()> finished_;
  ArtifactCache artifacts_;
  ArtifactInbox inbox_;
  std::vector<std::unique_ptr<DeviceQueue>> devices_;   // in the order of the Hello
  std::map<int64_t, hone::v1::MeasureResult> results_;  // not acknowledged, by fence
  // Changes since the Hello, to be told once the Welcome says which protocol the daemon speaks.
  std::vector<DeviceChange> untold_;
  uint64_t turns_ = 0;
  uint32_t protocol_ = 0;  // of the stream; 0: not welcomed yet
  int64_t heartbeat_interval_ns_ = 0;
  int64_t silence_limit_ns_ = 0;
  bool draining_ = false;
  bool leaves_ = false;  // the drain cannot be taken back
  bool stopped_ = false;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ROUTER_H_
