// Collects which jobs of the store have changed, whichever daemon changed them.
#ifndef HONE_TUNER_JOBS_CHANGED_JOBS_H_
#define HONE_TUNER_JOBS_CHANGED_JOBS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "tuning_db/job_store.h"

namespace hone::tuner {

// Thread-safe. The store outlives it.
class ChangedJobs {
 public:
  explicit ChangedJobs(tuning_db::JobStore& store)
      : subscription_(
            store.Subscribe([this](const tuning_db::Change& change) { Add(change.job); })) {}

  // Returns the ids of the jobs that have changed since the last call; the id 0 stands for any job.
  std::set<int64_t> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(jobs_, {});
  }

 private:
  void Add(int64_t job) {
    const std::lock_guard lock(mutex_);
    jobs_.insert(job);
  }

  std::mutex mutex_;
  std::set<int64_t> jobs_;                                       // guarded by the mutex
  const std::unique_ptr<tuning_db::Subscription> subscription_;  // ends before what it uses
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_CHANGED_JOBS_H_
