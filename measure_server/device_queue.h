// What one device is to measure, what it measures, and since when.
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

// Assignments in the order in which they came. Not thread-safe: its router's lock is around it.
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
  // Returns the digests of what it needs. `turn` grows with each assignment of the worker.
  std::set<std::string> Add(const hone::v1::Assignment& assignment, uint64_t turn, int64_t now_ns);
  void Attach(const std::shared_ptr<const Artifact>& artifact, int64_t now_ns);
  // Returns what cannot be measured without the artifact, which waits no longer.
  std::vector<hone::v1::Assignment> DropNeeding(const std::string& digest);
  // False: it does not wait here.
  bool Drop(int64_t fence);
  std::vector<hone::v1::Assignment> DropAll();
  // The turn of the first that has all its artifacts; nullopt: none has.
  std::optional<uint64_t> ReadyTurn() const;

  // ---- what runs ----
  // The first that is ready, of which there is one, runs from here on.
  Job Begin(int64_t now_ns);
  // False: nobody wants its result.
  bool End();
  // Nobody wants the result of what runs.
  void RevokeRunning() { is_wanted_ = false; }
  const std::optional<hone::v1::Assignment>& running() const { return running_; }
  bool runs(int64_t fence) const { return running_ && running_->fence() == fence; }
  bool is_wanted() const { return is_wanted_; }
  hone::v1::Running RunningMessage(int64_t now_ns) const;

  // Nothing waits, and nothing runs.
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

// Whether they may not measure at once: both name one resource.
bool Exclude(const hone::v1::Device& a, const hone::v1::Device& b);

}  // namespace hone::measure

#endif  // HONE_MEASURE_SERVER_DEVICE_QUEUE_H_
