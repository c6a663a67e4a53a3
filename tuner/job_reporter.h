// Reports the state of jobs to clients.
#ifndef HONE_TUNER_JOB_REPORTER_H_
#define HONE_TUNER_JOB_REPORTER_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "hone/v1/tuning.pb.h"
#include "tuning_db/store.h"

namespace hone::tuner {

// Thread-safe. The store outlives it and is read without holding the mutex, with a few queries per
// report, however many tasks and jobs that covers.
class JobReporter {
 public:
  explicit JobReporter(tuning_db::Store* store) : store_(store) {}

  // Whether a report has the texts of the job's tasks, which are most of its size and never change.
  enum class Spec { kWhole, kWithoutTasks };
  absl::StatusOr<hone::v1::JobInfo> Report(int64_t job, Spec spec);
  absl::StatusOr<hone::v1::JobInfo> Report(const tuning_db::Job& job, Spec spec);
  // Reports of all of them, without their tasks' texts.
  absl::StatusOr<std::vector<hone::v1::JobInfo>> Report(const std::vector<tuning_db::Job>& jobs);
  // kInvalidArgument for an unknown state.
  static absl::StatusOr<tuning_db::JobState> FromProto(hone::v1::JobState state);
  // Sets what the task waits for from now on; empty if for nothing.
  void SetWaiting(int64_t task, const std::string& signature, const std::string& what);

 private:
  using Key = std::pair<int64_t, std::string>;

  hone::v1::JobInfo InfoOf(const tuning_db::Job& job,
                           const std::vector<tuning_db::TaskProgress>& progress);
  hone::v1::TaskProgress ProgressOf(const tuning_db::Job& job, const tuning_db::JobTask& task,
                                    const tuning_db::TaskProgress& progress);

  tuning_db::Store* const store_;
  std::mutex mutex_;  // guards all below
  std::map<Key, std::string> waiting_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOB_REPORTER_H_
