// Chooses which of the trials that wait for a device goes next.
#ifndef HONE_TUNER_FARM_FAIR_QUEUE_H_
#define HONE_TUNER_FARM_FAIR_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tuner/device_need.h"
#include "tuner/farm/pending_trial.h"

namespace hone::tuner {

// The trials of one submitter and priority that wait. Its jobs take turns; within a job, first come
// goes first. Not thread-safe.
class JobTurns {
 public:
  using Entry = std::shared_ptr<PendingTrial>;

  void Push(Entry entry);
  // There must be one.
  Entry Pop();
  // nullptr if the trial is not here.
  Entry Remove(int64_t trial);
  bool empty() const { return jobs_.empty(); }
  size_t size() const;

 private:
  std::deque<std::deque<Entry>> jobs_;  // by turn; none is empty
};

// The trials that wait for devices of one target. Submitters take turns: each gets a share of the
// measurements in proportion to the weight of what it has waiting, which doubles with each step of
// priority. Within a submitter greater priority goes first, then jobs take turns. This is
// start-time fair queueing: a submitter with nothing waiting saves up no turns and owes none,
// except for its last measurement, of which it owes no more than the weight of what it submits now.
// So nobody waits for more than kMostShare + 1 measurements of each other submitter. Not
// thread-safe.
class FairQueue {
 public:
  using Entry = JobTurns::Entry;

  void Push(Entry entry);
  // The queue must not be empty.
  Entry Pop();
  // nullptr if the trial is not here.
  Entry Remove(int64_t trial);
  bool empty() const { return waiting_.empty(); }
  size_t size() const;

 private:
  struct Submitter {
    double turn = 0;  // the share it has had, in measurements over weight
    std::map<int, JobTurns, std::greater<>> by_priority;  // none is empty
  };

  double now_ = 0;  // the turn of whoever went last
  std::map<std::string, Submitter> waiting_;
  // How far submitters that have nothing waiting are ahead of now_.
  std::map<std::string, double> ahead_;
};

// Has a FairQueue for each DeviceNeed. Queues that share devices take turns, so that none starves
// another. Not thread-safe.
class TargetQueues {
 public:
  void Push(FairQueue::Entry entry);
  // The next trial for which there is room (a device that takes work now); nullptr if there is
  // none.
  FairQueue::Entry PopNext(const std::function<bool(const DeviceNeed& need)>& has_room);
  // nullptr if the trial does not wait here.
  FairQueue::Entry Remove(int64_t trial);
  size_t size() const;
  // The number of trials that wait for each kind of target ("llvm", "cuda", ...).
  std::map<std::string, size_t> SizesByKind() const;

 private:
  struct OfTarget {
    FairQueue queue;
    uint64_t turn = 0;  // measurements that it has had, as if it had always been waiting
  };

  uint64_t now_ = 0;
  std::map<DeviceNeed, OfTarget> targets_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_FARM_FAIR_QUEUE_H_
