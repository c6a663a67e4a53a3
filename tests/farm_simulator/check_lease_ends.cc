// Whether leases end in time.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "tests/farm_simulator/checker.h"

namespace hone::sim {

using tuning_db::SettleResult;

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 2;

// Follows each lease from its commit to its end. It may be open until its limit has passed since
// its device began it, as the daemon was told, or could have: the grace comes on top of that once,
// if its stream broke, and a new daemon gives it its time anew, as it cannot know how much of it
// has passed.
class LeaseTimes {
 public:
  explicit LeaseTimes(const Bars& bars) : bars_(bars) {}

  std::vector<Violation> Follow(const History& history) {
    for (size_t i = 0; i < history.size(); ++i) Take(i, history[i]);
    for (const auto& [fence, lease] : open_) {
      if (!history.empty()) CheckTime(lease, fence, history.size() - 1, history.back().at_ns);
    }
    return std::move(found_);
  }

 private:
  using Device = std::pair<std::string, std::string>;
  struct Lease {
    int64_t trial = 0;
    Device device;
    int64_t limit_ns = 0;
    int64_t deadline_ns = 0;
    bool has_grace = false;
    int64_t known_ns = 0;    // since when the daemon knows it
    int64_t instead_ns = 0;  // the longest limit of what its device ran instead
    bool has_begun = false;
  };

  void Take(size_t i, const Event& event) {
    const int64_t now_ns = event.at_ns;
    switch (event.what) {
      case What::kLease:
        if (newest_.count(event.trial) > 0) End(newest_[event.trial], i, now_ns);
        newest_[event.trial] = event.fence;
        open_[event.fence] = {event.trial, {event.worker, ""}, 0, now_ns};
        break;
      case What::kOffer:
        Offer(event);
        break;
      case What::kRunning:
        Run(event);
        break;
      case What::kRelease:
        End(event.fence, i, now_ns);
        break;
      case What::kSettle:
        if (event.number == static_cast<int64_t>(SettleResult::kSettled)) {
          End(event.fence, i, now_ns);
        }
        break;
      case What::kWelcome:
        streams_[event.worker] = event.stream;
        break;
      case What::kStreamEnd:
        if (streams_[event.worker] == event.stream) streams_.erase(event.worker);
        for (auto& [fence, lease] : open_) {
          if (lease.device.first == event.worker) Detach(lease, now_ns);
        }
        break;
      case What::kHello:
        for (const int64_t fence : event.fences) Return(fence, now_ns);
        break;
      case What::kDaemonUp:
        for (auto& [fence, lease] : open_) {
          lease.deadline_ns = now_ns + lease.limit_ns;
          lease.has_grace = true;
          lease.known_ns = now_ns;
          lease.has_begun = false;
        }
        break;
      case What::kStoreFault:  // nothing could be ended then
        for (auto& [fence, lease] : open_) {
          lease.deadline_ns = std::max(lease.deadline_ns, now_ns);
        }
        break;
      default:
        break;
    }
  }

  Lease* Find(int64_t fence) {
    const auto it = open_.find(fence);
    return it == open_.end() ? nullptr : &it->second;
  }

  void Offer(const Event& event) {
    Lease* const lease = Find(event.fence);
    if (lease == nullptr) return;
    lease->device = {event.worker, event.device};
    lease->limit_ns = event.number;
    lease->known_ns = event.at_ns;
    std::deque<int64_t>& queue = queues_[lease->device];
    queue.push_back(event.fence);
    lease->deadline_ns = queue.size() == 1 ? event.at_ns + event.number : kNever;
  }

  // What it took to fetch is not of its time, nor is what its device runs before it.
  void Run(const Event& event) {
    Lease* const runs = Find(event.fence);
    // What straggles on a stream that has ended is not heard.
    if (runs == nullptr || streams_[event.worker] != event.stream) return;
    if (runs->device != Device{event.worker, event.device}) return;
    for (const int64_t fence : queues_[runs->device]) {
      Lease* const other = Find(fence);
      if (other == nullptr || other == runs || other->has_begun) continue;
      if (other->deadline_ns == kNever || other->instead_ns >= runs->limit_ns) continue;
      other->deadline_ns += runs->limit_ns - std::exchange(other->instead_ns, runs->limit_ns);
    }
    const int64_t since_ns = std::max(event.at_ns - event.number, runs->known_ns);
    if (!runs->has_begun && since_ns > runs->deadline_ns) return;
    const int64_t deadline_ns = since_ns + runs->limit_ns;
    runs->deadline_ns = runs->has_begun ? std::min(runs->deadline_ns, deadline_ns) : deadline_ns;
    runs->has_begun = true;
  }

  void Detach(Lease& lease, int64_t now_ns) const {
    if (lease.deadline_ns == kNever) lease.deadline_ns = now_ns;
    lease.has_grace = true;
  }

  // Its worker is back and holds it: it has its result, or runs it.
  void Return(int64_t fence, int64_t now_ns) {
    Lease* const lease = Find(fence);
    if (lease == nullptr || !returned_.insert(fence).second) return;
    lease->deadline_ns = std::max(lease->deadline_ns, now_ns + lease->limit_ns);
  }

  void CheckTime(const Lease& lease, int64_t fence, size_t i, int64_t now_ns) {
    if (lease.deadline_ns == kNever) return;
    const int64_t most_ns =
        lease.deadline_ns + (lease.has_grace ? bars_.grace_ns : 0) + bars_.overdue_ns;
    if (now_ns <= most_ns) return;
    found_.push_back(
        {"", i,
         fmt::format("fence {} of trial {} is open {:.3f} s after it had to end", fence,
                     lease.trial, static_cast<double>(now_ns - most_ns) / 1e9)});
  }

  void End(int64_t fence, size_t i, int64_t now_ns) {
    const auto it = open_.find(fence);
    if (it == open_.end()) return;
    const Lease lease = it->second;
    open_.erase(it);
    CheckTime(lease, fence, i, now_ns);
    std::deque<int64_t>& queue = queues_[lease.device];
    std::erase(queue, fence);
    Lease* const next = queue.empty() ? nullptr : Find(queue.front());
    if (next != nullptr && next->deadline_ns == kNever) {
      next->deadline_ns = now_ns + next->limit_ns;
    }
  }

  const Bars bars_;
  std::map<int64_t, Lease> open_;                 // by fence
  std::map<int64_t, int64_t> newest_;             // fence, by trial
  std::map<std::string, int64_t> streams_;        // that are up, by worker
  std::map<Device, std::deque<int64_t>> queues_;  // fences in the order of their offers
  std::set<int64_t> returned_;                    // fences, once each
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> CheckLeasesEnd(const Evidence& evidence) {
  return LeaseTimes(evidence.bars).Follow(evidence.history);
}

}  // namespace hone::sim
