// What one device is to measure, and what it is measuring.
#ifndef HONE_MEASURE_SERVER_DEVICE_QUEUE_H_
#define HONE_MEASURE_SERVER_DEVICE_QUEUE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hone/v1/farm.pb.h"
#include "measure_server/measurer.h"

namespace hone::measure {

// Keeps assignments in the order in which they came. Not thread-safe: the router's lock guards it.
class DeviceQueue {
 public:
  enum class Presence {
    kHere,
    kAway,  // it may come back
    kLost,  // for good
  };

  explicit DeviceQueue(hone::v1::Device device) : device_(std::move(device)) {}

  const hone::v1::Device& device() const { return device_; }
  void set_device(hone::v1::Device device) { device_ = std::move(device); }
  Presence presence() const { return presence_; }
  bool is_here() const { return presence_ == Presence::kHere; }
  void set_presence(Presence presence) { presence_ = presence; }

  // ---- what waits ----
  // Adds an assignment and returns the digests of the artifacts that it needs. `turn` grows with
  // each assignment of the worker.
  std::set<std::string> Add(const hone::v1::Assignment& assignment, uint64_t turn, int64_t now_ns);
  // Gives an artifact to all assignments that wait for it.
  void Attach(const std::shared_ptr<const Artifact>& artifact, int64_t now_ns);
  // Removes and returns the assignments that still wait for the artifact.
  std::vector<hone::v1::Assignment> DropNeeding(const std::string& digest);
  // Removes the waiting assignment with this fence. False if there is none.
  bool Drop(int64_t fence);
  std::vector<hone::v1::Assignment> DropAll();
  // The turn of the first assignment that is ready, that is, has all its artifacts; nullopt if none
  // is.
  std::optional<uint64_t> ReadyTurn() const;
  // The first assignments that are ready, `count` at most.
  std::vector<Job> Ready(size_t count) const;

  // ---- what runs ----
  // Starts the first assignment that is ready; there must be one.
  Job Begin(int64_t now_ns);
  // Call this when what runs has ended. False if nobody wants its result.
  bool End();
  // Marks the result of what runs as not wanted.
  void RevokeRunning() { is_wanted_ = false; }
  const std::optional<hone::v1::Assignment>& running() const { return running_; }
  bool runs(int64_t fence) const { return running_ && running_->fence() == fence; }
  bool is_wanted() const { return is_wanted_; }
  hone::v1::Running RunningMessage(int64_t now_ns) const;

  // Whether nothing waits and nothing runs.
  bool is_idle() const { return waiting_.empty() && !running_; }

 private:
  struct Waiting {
    Job job;
    std::set<std::string> missing;  // artifacts not here yet
    uint64_t turn = 0;
    int64_t since_ns = 0;
  };

  std::deque<Waiting>::const_iterator FirstReady() const;
  template <typename Is>
  std::vector<hone::v1::Assignment> DropWhere(Is is);

  hone::v1::Device device_;
  Presence presence_ = Presence::kHere;
  std::deque<Waiting> waiting_;
  std::optional<hone::v1::Assignment> running_;
  int64_t running_since_ns_ = 0;
  bool is_wanted_ = true;
};

// Whether the two devices must not measure at the same time because they share a resource.
bool Exclude(const hone::v1::Device& a, const hone::v1::Device& b);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_DEVICE_QUEUE_H_
