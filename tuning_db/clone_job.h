// Makes jobs that are copies of others.
#ifndef HONE_TUNING_DB_CLONE_JOB_H_
#define HONE_TUNING_DB_CLONE_JOB_H_

#include <cstdint>
#include <optional>

#include "tuning_db/types.h"

namespace hone::tuning_db {

// What differs in the clone; the rest is as in the other job.
struct JobChanges {
  std::optional<int64_t> trials;  // of every task
  std::optional<int64_t> deadline_ns;
  std::optional<uint64_t> seed;
  std::optional<int> priority;
};

// A job yet to be submitted, with the tasks and settings of `job`. It has no submitter, owner or
// client id.
Job CloneOf(const Job& job, const JobChanges& changes);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_CLONE_JOB_H_
