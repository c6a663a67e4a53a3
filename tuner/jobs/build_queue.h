// The queue of what is to be built, and of what the builder is building.
#ifndef HONE_TUNER_JOBS_BUILD_QUEUE_H_
#define HONE_TUNER_JOBS_BUILD_QUEUE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "hone/v1/builder.pb.h"
#include "tuner/jobs/task_runner.h"

namespace hone::tuner {

struct BuildItem {
  enum class Kind { kTrial, kReference, kAnchor, kFinalist };
  Kind kind = Kind::kTrial;
  TaskKey key;
  int64_t trial = 0;  // kTrial. kFinalist: the confirm trial
  size_t finalist = 0;
  int attempts = 0;
  hone::v1::BuildRequest request;
};

// Not thread-safe.
class BuildQueue {
 public:
  using Filter = std::function<bool(const TaskKey&)>;

  void PushFront(BuildItem item) { waiting_.push_front(std::move(item)); }
  void PushBack(BuildItem item) { waiting_.push_back(std::move(item)); }
  // The next items whose task passes the filter, at most `size`, as a batch that the builder has
  // from now on; empty: none.
  hone::v1::BuildBatch TakeBatch(int size, const Filter& filter);
  // The builder has answered this request. Nothing is returned where it was not asked for it, or
  // nobody waits for the answer.
  std::optional<BuildItem> Answered(uint64_t id);
  // What waits for this task is forgotten. What the builder has of it is built, but nobody waits
  // for the answer: what is wanted again is built again, and is answered once.
  void Drop(const TaskKey& key);

  // Batches with requests that the builder has not answered.
  int open_batches() const { return static_cast<int>(left_of_batch_.size()); }
  // Whether anything that passes the filter waits.
  bool HasWaiting(const Filter& filter) const;

 private:
  struct Building {
    BuildItem item;
    uint64_t batch = 0;
    bool is_dropped = false;  // nobody waits for the answer
  };
  std::deque<BuildItem> waiting_;
  std::map<uint64_t, Building> building_;  // by request
  std::map<uint64_t, int> left_of_batch_;  // requests without an answer
  uint64_t next_id_ = 1;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_BUILD_QUEUE_H_
