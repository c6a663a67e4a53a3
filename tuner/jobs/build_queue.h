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
  // The trial that is built; for kFinalist, the final's confirm trial.
  int64_t trial = 0;
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
  // Takes the next items whose task passes the filter, at most `size`, as a batch for the builder;
  // empty: there are none.
  hone::v1::BuildBatch TakeBatch(int size, const Filter& filter);
  // The builder has answered this request. Returns its item; nothing where the request is unknown,
  // or nobody waits for the answer any more.
  std::optional<BuildItem> Answered(uint64_t id);
  // Forgets what waits for this task. What the builder has already is still built, but its answer
  // is ignored; an item that is pushed again is built again.
  void Drop(const TaskKey& key);

  // How many batches have requests that the builder has not answered.
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
