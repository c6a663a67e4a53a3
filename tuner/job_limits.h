// The limits of what a job may ask for; a job beyond them is refused with a sentence.
#ifndef HONE_TUNER_JOB_LIMITS_H_
#define HONE_TUNER_JOB_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace hone::tuner {

inline constexpr int kMostTasks = 4096;
inline constexpr size_t kMostWorkloadBytes = size_t{1} << 20;
inline constexpr size_t kMostJobBytes = size_t{32} << 20;
// The most trials of one task: more than anybody measures, and few enough that the sum over all
// tasks of a job does not overflow.
inline constexpr int64_t kMostTrials = 1'000'000'000;
inline constexpr size_t kMostClientIdBytes = 1024;

// The limits of all jobs of one submitter that have not ended, together. 0: no limit.
struct Quota {
  int64_t most_jobs = 0;
  int64_t most_tasks = 0;
  int64_t most_bytes = 0;  // of their workloads' texts
};

// The submitter of a job.
struct Submitter {
  std::string name;
  bool has_quota = false;  // administrators and the daemon's own user have none
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOB_LIMITS_H_
