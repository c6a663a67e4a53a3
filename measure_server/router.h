// The worker's side of the farm's protocol (proto/hone/v1/farm.proto), without the network.
#ifndef HONE_MEASURE_SERVER_WORKER_H_
#define HONE_MEASURE_SERVER_WORKER_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "hone/v1/farm.pb.h"
#include "measure_server/measurer.h"
#include "support/clock.h"

namespace hone::measure {

struct WorkerOptions {
  hone::v1::Hello hello;  // without held fences
  // Assignments taken ahead for each device, so that artifacts travel while others are measured.
  uint32_t window = 3;
  uint64_t artifact_cache_bytes = uint64_t{256} << 20;
  uint64_t max_artifact_bytes = uint64_t{1} << 30;
  // What is being measured was revoked; must not block. May be empty.
  std::function<void()> cancel_running;
};

// Assignments in the order they came; a result is kept until it is acknowledged or its lease was
// given elsewhere, over any number of streams. Thread-safe: one thread measures, another has the
// stream.
class Worker {
 public:
  using Send = std::function<void(hone::v1::WorkRequest)>;

  Worker(WorkerOptions options, const Clock* clock)
      : options_(std::move(options)), clock_(clock), artifacts_(options_.artifact_cache_bytes) {}

  // ---- the stream ----
  // A stream is up; `send` is called until Disconnected has returned and must not block. What was
  // queued on an earlier stream is gone (its leases were lost with it).
  void Connected(Send send);
  void Receive(const hone::v1::WorkResponse& message);
  void Disconnected();
  // 0 before the daemon's Welcome.
  int64_t heartbeat_interval_ns() const;
  int64_t silence_limit_ns() const;
  // What runs now, and for how long.
  hone::v1::WorkRequest HeartbeatMessage() const;

  // ---- the measuring thread ----
  // Blocks; nullopt when the worker is to leave.
  std::optional<Job> Next();
  void Finish(hone::v1::MeasureResult result);

  // ---- the end ----
  // No new assignments; what is held is finished first.
  void Drain();
  // At once; what is held is dropped.
  void Stop();
  bool is_draining() const;
  // Nothing is held any more, and none will come.
  bool is_finished() const;
  // Returns when the worker is finished, or after limit_ns.
  bool AwaitFinished(int64_t limit_ns) const;

 private:
  struct Queued {
    Job job;
    std::set<std::string> missing;  // artifacts not here yet
    int64_t since_ns = 0;
  };
  struct Transfer {
    std::string bytes;
  };

  void TakeAssignment(const hone::v1::Assignment& assignment);
  void TakeChunk(const hone::v1::ArtifactChunk& chunk);
  void TakeArtifact(const std::string& digest, std::string bytes);
  void Attach(Queued& queued, const std::shared_ptr<const Artifact>& artifact);
  void Fetch(const std::string& digest);
  // Assignments that need it end with this outcome, or without a result for kUnspecified.
  void DropNeeding(const std::string& digest, hone::v1::MeasureOutcome outcome,
                   const std::string& message);
  void TakeRevoke(int64_t fence);
  void Keep(hone::v1::MeasureResult result);
  // The daemon knows from here on which protocol both speak: the devices' windows are open.
  void TakeWelcome(const hone::v1::Welcome& welcome);
  // Protocol 2 counts what each device takes more; a window says it once.
  void GiveCredit(const std::string& device, uint32_t count);
  void AddRunning(hone::v1::Heartbeat& heartbeat) const;
  void Emit(hone::v1::WorkRequest message);
  void BeginDraining();
  bool IsFinished() const;

  const WorkerOptions options_;
  const Clock* const clock_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Send send_;  // empty: no stream
  ArtifactCache artifacts_;
  std::deque<Queued> queue_;
  std::map<std::string, Transfer> transfers_;
  std::map<int64_t, hone::v1::MeasureResult> results_;  // not acknowledged, by fence
  std::optional<hone::v1::Assignment> running_;
  int64_t running_since_ns_ = 0;
  bool running_is_revoked_ = false;
  uint32_t protocol_ = 0;  // of the stream; 0: not welcomed yet
  int64_t heartbeat_interval_ns_ = 0;
  int64_t silence_limit_ns_ = 0;
  bool draining_ = false;
  bool stopped_ = false;
};

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_WORKER_H_
