// The worker's side of the farm's protocol (docs/protocol.md), without the network: between one
// stream and the devices.
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
  // Assignments taken ahead for each device, so that artifacts travel while others are measured.
  uint32_t window = 3;
  uint64_t artifact_cache_bytes = uint64_t{256} << 20;
  uint64_t max_artifact_bytes = uint64_t{1} << 30;
  // What the device measures under the fence is wanted no longer; must not block. May be empty.
  std::function<void(const std::string& device, int64_t fence)> cancel;
};

// Gives each device its assignments in the order in which they came, never two at once that share a
// resource; keeps each result until it is acknowledged or its lease was given elsewhere, over any
// number of streams. Thread-safe: each device has a thread, another has the stream.
class Router {
 public:
  using Send = std::function<void(hone::v1::WorkRequest)>;

  Router(RouterOptions options, const Clock* clock);

  // ---- the stream ----
  // A stream is up; `send` is called until Disconnected has returned and must not block. What was
  // queued on an earlier stream is gone (its leases were lost with it). `finished` is called as
  // `send` is, at least once when the worker has finished.
  void Connected(Send send, std::function<void()> finished = nullptr);
  void Receive(const hone::v1::WorkResponse& message);
  void Disconnected();
  // 0 before the daemon's Welcome.
  int64_t heartbeat_interval_ns() const;
  int64_t silence_limit_ns() const;
  // What runs now, and for how long.
  hone::v1::WorkRequest HeartbeatMessage() const;

  // ---- a device's thread ----
  // Blocks until the device has a job; nullopt when it is to leave.
  std::optional<Job> Next(const std::string& device);
  void Finish(const std::string& device, hone::v1::MeasureResult result);
  // The device cannot measure any more, whatever comes. The last one takes the worker with it.
  void Lose(const std::string& device, const std::string& reason);

  // ---- devices that come and go ----
  // The device is away: what it was given is lost, and it gets nothing until it is back.
  void Unplug(const std::string& device, const std::string& reason);
  // It is back, or was calibrated again; its id is one of the Hello's.
  void Update(const hone::v1::Device& device);

  // ---- the end ----
  // No new assignments; what is held is finished first. The daemon cannot take it back.
  void Drain();
  // What was not measured yet is given back, to be measured elsewhere; nobody is to blame. Results
  // are still delivered.
  void GiveUp(const std::string& reason);
  // The worker stops at once, and what is held is dropped.
  void Stop();
  bool is_draining() const;
  // Nothing is held any more, and none will come.
  bool is_finished();
  // Returns when the worker is finished, or after limit_ns.
  bool AwaitFinished(int64_t limit_ns);

 private:
  // nullptr: there is none.
  DeviceQueue* FindDevice(const std::string& id);
  bool MayBegin(const DeviceQueue& device) const;
  // Who waits looks anew; the stream is told where that is the end.
  void Changed();
  // Nobody wants what the device runs.
  void CancelRunning(DeviceQueue& device);
  // What the device has is lost.
  void GiveUpDevice(DeviceQueue& device, DeviceQueue::Presence presence, const std::string& reason);
  // What has become of a device, and what was lost with it.
  struct DeviceChange {
    hone::v1::DeviceUpdate update;
    std::vector<hone::v1::Assignment> lost;
  };
  // The daemon is told in the words that it knows.
  void Tell(const DeviceChange& change);

  void TakeWelcome(const hone::v1::Welcome& welcome);
  void TakeAssignment(const hone::v1::Assignment& assignment);
  void TakeChunk(const hone::v1::ArtifactChunk& chunk);
  void TakeArtifact(const std::string& digest, const std::string& bytes);
  void Fetch(const std::string& digest);
  // Assignments that need it end with this outcome, or without a result for kUnspecified.
  void DropNeeding(const std::string& digest, hone::v1::MeasureOutcome outcome,
                   const std::string& message);
  void TakeRevoke(int64_t fence);
  void Keep(hone::v1::MeasureResult result);
  // Since protocol 3 heartbeats name what runs, and devices have windows.
  bool tells() const;
  // The devices of `protocol_` take what they may: protocol 2 counts what each takes more.
  void OpenWindow(const DeviceQueue& device);
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
  // Since the Hello: what words the daemon knows its Welcome says.
  std::vector<DeviceChange> untold_;
  uint64_t turns_ = 0;
  uint32_t protocol_ = 0;  // of the stream; 0: not welcomed yet
  int64_t heartbeat_interval_ns_ = 0;
  int64_t silence_limit_ns_ = 0;
  bool draining_ = false;
  bool leaves_ = false;  // a drain that nobody takes back, or that has been found to be done
  bool stopped_ = false;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_ROUTER_H_
