// How jobs stand, for clients.
#ifndef HONE_TUNER_JOB_REPORTER_H_
#define HONE_TUNER_JOB_REPORTER_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "hone/v1/tuning.pb.h"
#include "tuning_db/store.h"

namespace hone::tuner {

// Reads each record once and keeps sums. Thread-safe. The store outlives it.
class JobReporter {
 public:
  explicit JobReporter(tuning_db::Store* store) : store_(store) {}

  // The texts of a job's tasks are most of it, and never change.
  enum class Spec { kWhole, kWithoutTasks };
  absl::StatusOr<hone::v1::JobInfo> Report(int64_t job, Spec spec);
  absl::StatusOr<hone::v1::JobInfo> Report(const tuning_db::Job& job, Spec spec);
  // What the task waits for from now on; empty: for nothing.
  void SetWaiting(int64_t task, const std::string& signature, const std::string& what);
  // The task's row; tasks never change.
  absl::StatusOr<tuning_db::Task> GetTask(int64_t id);

 private:
  struct Spent {
    int64_t trials = 0;
    int64_t failures = 0;
  };
  struct Sums {
    int64_t last_record = 0;
    int64_t trials = 0;
    std::map<int64_t, Spent> by_job;
    int64_t first_trial = 0;  // that of the default config
    double default_ns = 0;
    double best_ns = 0;
  };
  using Key = std::pair<int64_t, std::string>;

  absl::Status Update(const Key& key, Sums& sums);
  absl::StatusOr<tuning_db::Task> CachedTask(int64_t id);
  absl::StatusOr<hone::v1::TaskProgress> Progress(const tuning_db::Job& job,
                                                  const tuning_db::JobTask& task);

  tuning_db::Store* const store_;
  std::mutex mutex_;  // guards all below
  std::map<Key, Sums> sums_;
  std::map<int64_t, tuning_db::Task> tasks_;
  std::map<Key, std::string> waiting_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOB_REPORTER_H_
