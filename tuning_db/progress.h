// The progress of a job's tasks.
#ifndef HONE_TUNING_DB_PROGRESS_H_
#define HONE_TUNING_DB_PROGRESS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace hone::tuning_db {

// What the newest final of a task says about its winner.
struct FinalFigures {
  int64_t distinct_trials = 0;  // these three are as in Final
  int64_t space_size = 0;
  double ended_share = 0;
  double default_ns = 0;
  double winner_ns = 0;  // by WinnerNs
};

// The progress of a task and signature, as one of its jobs sees it. It counts trials that searches
// proposed (IsProposed) and that are settled, but not as cancelled.
struct TaskProgress {
  int64_t task = 0;
  std::string signature;
  std::string workload_digest;
  int64_t trials = 0;        // of all jobs
  int64_t job_trials = 0;    // of this job
  int64_t job_failures = 0;  // of job_trials
  double default_ns = 0;     // median of the first trial, which is the default config's; 0: unknown
  double best_ns = 0;        // the least median; 0: unknown
  std::optional<FinalFigures> final;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_PROGRESS_H_
