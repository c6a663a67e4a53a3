// Jobs: who owns them, how they stand, what happened to them.
#ifndef HONE_TUNING_DB_JOB_STORE_H_
#define HONE_TUNING_DB_JOB_STORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuning_db/ownership.h"
#include "tuning_db/progress.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

// Of Store, whose comment says what holds for every call.
class JobStore {
 public:
  virtual ~JobStore() = default;

  // ---- owners ----
  // A life of the daemon `owner` begins: an epoch greater than any before it, in time for
  // `lease_ns` from now on, by the store's own clock. What has an older epoch of the same name is
  // in time no longer. kInvalidArgument without a name.
  virtual absl::StatusOr<Ownership> BeginEpoch(const std::string& owner, int64_t lease_ns) = 0;
  // Makes every job that has not ended and whose owner is not in time this one's, and returns those
  // that were not its own before, by id. Where a store has one writer (SQLite), no other owner is
  // alive, and it takes all. Renews as RenewJobs does.
  virtual absl::StatusOr<std::vector<Job>> TakeJobs(const Ownership& ownership,
                                                    int64_t lease_ns) = 0;
  // The owner is in time for `lease_ns` from now on, and so are all of its jobs. Returns the ids of
  // the jobs that it still owns and that have not ended: one that renews too late may have lost
  // some. kAborted where a newer life of the same name has begun.
  virtual absl::StatusOr<std::vector<int64_t>> RenewJobs(const Ownership& ownership,
                                                         int64_t lease_ns) = 0;

  // ---- jobs ----
  // A job with the same client_id is returned as it is (its id and state), and nothing is written.
  // A new one is queued, has not run, and is of the owner and epoch that it names.
  virtual absl::StatusOr<Job> SubmitJob(const Job& job) = 0;
  virtual absl::StatusOr<Job> GetJob(int64_t id) = 0;
  // By id, after `after_id`; limit 0: all.
  virtual absl::StatusOr<std::vector<Job>> ListJobs(int64_t after_id, int64_t limit) = 0;
  // With an event of kind "state" in the same transaction.
  virtual absl::Status SetJobState(const Ownership& ownership, int64_t id, JobState state,
                                   const std::string& message) = 0;
  absl::Status SetJobState(int64_t id, JobState state, const std::string& message) {
    return SetJobState(Ownership(), id, state, message);
  }
  // The running time of a running job so far, for its limit (Job::ran_ns). No event.
  virtual absl::Status SetJobRan(const Ownership& ownership, int64_t id, int64_t ran_ns) = 0;
  absl::Status SetJobRan(int64_t id, int64_t ran_ns) { return SetJobRan(Ownership(), id, ran_ns); }
  // How far the job's tasks have come, in the job's order. Read at once, and as cheap as a few rows
  // a task: it is kept by the transactions that settle.
  virtual absl::StatusOr<std::vector<TaskProgress>> Progress(int64_t job) = 0;

  // ---- events ----
  // What happens to a task (a settled trial, a final) is an event of every job that wants the task
  // and has not ended, whichever job it was done for. The event with which a job ends is its last.
  // kFailedPrecondition for a job that has ended.
  virtual absl::StatusOr<int64_t> AppendEvent(const Ownership& ownership, int64_t job,
                                              const std::string& kind,
                                              const std::string& payload) = 0;
  absl::StatusOr<int64_t> AppendEvent(int64_t job, const std::string& kind,
                                      const std::string& payload) {
    return AppendEvent(Ownership(), job, kind, payload);
  }
  virtual absl::StatusOr<std::vector<Event>> ListEvents(int64_t job, int64_t after_seq,
                                                        int64_t limit) = 0;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_JOB_STORE_H_
