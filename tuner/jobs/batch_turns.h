// When jobs and submitters last had a batch.
#ifndef HONE_TUNER_JOBS_BATCH_TURNS_H_
#define HONE_TUNER_JOBS_BATCH_TURNS_H_

#include <cstdint>
#include <map>
#include <string>

#include "tuner/jobs/task_runner.h"

namespace hone::tuner {

// Batches are numbered from 1 on as they are planned. Not thread-safe.
class BatchTurns {
 public:
  // The numbers of the newest batches; 0: there was none.
  uint64_t OfJob(const TaskRunner& runner) const;
  uint64_t OfSubmitter(const TaskRunner& runner) const;
  // The task takes the next batch. What is not of `jobs` is forgotten.
  void Took(const TaskRunner& runner, const ActiveJobs& jobs);

 private:
  uint64_t newest_ = 0;
  std::map<int64_t, uint64_t> jobs_;
  std::map<std::string, uint64_t> submitters_;
};

}  // namespace hone::tuner

#endif  // HONE_TUNER_JOBS_BATCH_TURNS_H_
