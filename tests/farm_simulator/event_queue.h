// Virtual time: one thread, and what is to happen in the order of when.
#ifndef HONE_TESTS_FARM_SIMULATOR_EVENT_QUEUE_H_
#define HONE_TESTS_FARM_SIMULATOR_EVENT_QUEUE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <utility>

#include "support/clock.h"
#include "support/random.h"
#include "tuner/executor.h"

namespace hone::sim {

inline constexpr int64_t kMillisecond = 1'000'000;
inline constexpr int64_t kSecond = 1000 * kMillisecond;
inline constexpr int64_t kHour = 3600 * kSecond;

// A process of the simulation. What it was about to do dies with it: events that are scheduled with
// a life do not happen once that life has ended.
class Life {
 public:
  bool is_over() const { return is_over_; }
  void End() { is_over_ = true; }

 private:
  bool is_over_ = false;
};

class EventQueue {
 public:
  explicit EventQueue(uint64_t seed) : random_(seed) {}

  int64_t now_ns() const { return now_ns_; }
  // All chance of a simulation comes from here, so that a seed repeats it.
  Random& random() { return random_; }
  // Uniform in [from, to].
  int64_t Between(int64_t from, int64_t to) {
    return from + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(to - from) + 1));
  }
  bool IsTrue(double probability) { return random_.Uniform() < probability; }

  // Things of one moment happen in an order that the seed gives.
  void After(int64_t delay_ns, std::function<void()> what);
  void After(int64_t delay_ns, const std::shared_ptr<Life>& life, std::function<void()> what);
  // The next thing happens; false: nothing is left to happen.
  bool RunOne();

 private:
  struct Entry {
    int64_t at_ns;
    uint64_t tie;
    std::function<void()> what;
    bool operator<(const Entry& other) const {
      return at_ns != other.at_ns ? at_ns > other.at_ns : tie > other.tie;
    }
  };

  int64_t now_ns_ = 0;
  Random random_;
  std::priority_queue<Entry> entries_;
};

// The clock of one process: the origin of its monotonic time is anybody's guess, and its wall clock
// may be wrong and may jump.
class SimClock : public Clock {
 public:
  SimClock(const EventQueue* queue, int64_t origin_ns) : queue_(queue), origin_ns_(origin_ns) {}
  int64_t NowNs() const override { return queue_->now_ns() + origin_ns_; }
  int64_t WallTimeNs() const override { return queue_->now_ns() + wall_ns_; }
  void SetWall(int64_t wall_ns) { wall_ns_ = wall_ns; }

 private:
  const EventQueue* queue_;
  int64_t origin_ns_;
  int64_t wall_ns_ = 0;
};

// Runs what is posted to it, in order, some microseconds later each.
class SimExecutor : public tuner::Executor {
 public:
  SimExecutor(EventQueue* queue, std::shared_ptr<Life> life)
      : queue_(queue), life_(std::move(life)) {}
  void Post(std::function<void()> work) override;

 private:
  EventQueue* const queue_;
  const std::shared_ptr<Life> life_;
  std::deque<std::function<void()>> works_;
};

}  // namespace hone::sim

#endif  // HONE_TESTS_FARM_SIMULATOR_EVENT_QUEUE_H_
