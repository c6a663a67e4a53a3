// The part of the store for jobs: their owners, their states and their events.
#ifndef HONE_TUNING_DB_JOB_STORE_H_
#define HONE_TUNING_DB_JOB_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuning_db/ownership.h"
#include "tuning_db/progress.h"
#include "tuning_db/subscription.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

struct JobFilter {
  std::vector<JobState> states = {};  // empty: any
  std::string submitter = "";         // empty: any
  std::string target = "";            // a part of its text; empty: any
  std::string model = "";             // a part of its name; empty: any
  int64_t submitted_since_ns = 0;     // not before; 0: whenever
};

struct JobPage {
  std::vector<Job> jobs;
  // Where the page after it begins: opaque, and good for the same order.
  std::string next;
  bool is_last = false;
};

// A part of Store, whose comment says what holds for every call.
class JobStore {
 public:
  virtual ~JobStore() = default;

  // ---- owners ----
  // Whether several owners may be in time at once. False: whoever writes owns all jobs that have
  // not ended.
  virtual bool HasManyOwners() const = 0;
  // A life of the daemon `owner` begins: an epoch greater than any before it, in time for
  // `lease_ns` from now on, by the store's own clock. What has an older epoch of the same name is
  // in time no longer. kInvalidArgument without a name.
  virtual absl::StatusOr<Ownership> BeginEpoch(const std::string& owner, int64_t lease_ns) = 0;
  // Makes every job that has not ended and whose owner is not in time this one's, and returns those
  // that were not its own before, by id. Where a store has one writer (SQLite), no other owner is
  // alive, and it takes all. Renews as RenewJobs does, at least every third of `lease_ns`.
  //
  // A life that calls later than that, so that less than a third of its time is left or none, is
  // renewed and takes nothing: what kept it from renewing (an outage of the database, a machine
  // that stood still) may have kept all others as well, who have until its next call to say so.
  virtual absl::StatusOr<std::vector<Job>> TakeJobs(const Ownership& ownership,
                                                    int64_t lease_ns) = 0;
  // The owner is in time for `lease_ns` from now on, and so are all of its jobs. Returns the ids of
  // the jobs that it still owns and that have not ended: one that renews too late may have lost
  // some. kAborted where a newer life of the same name has begun.
  virtual absl::StatusOr<std::vector<int64_t>> RenewJobs(const Ownership& ownership,
                                                         int64_t lease_ns) = 0;

  // ---- jobs ----
  // A job with the same client_id is returned as it is (its id and state), and nothing is written;
  // kAlreadyExists where that is another request (IsSameRequest).
  // A new one is queued, has not run, was submitted now, and is of the owner and epoch that it
  // names.
  virtual absl::StatusOr<Job> SubmitJob(const Job& job) = 0;
  virtual absl::StatusOr<Job> GetJob(int64_t id) = 0;
  // The job with the client id; nullopt: there is none.
  virtual absl::StatusOr<std::optional<Job>> JobOfClient(const std::string& client_id) = 0;
  // At most `limit` (0: all) that match, after `cursor` (empty: from the beginning).
  // kInvalidArgument for a cursor that no page of this order gave.
  virtual absl::StatusOr<JobPage> ListJobs(const JobFilter& filter, Order order,
                                           const std::string& cursor, int64_t limit) = 0;
  // All that match, the oldest first.
  absl::StatusOr<std::vector<Job>> Jobs(const JobFilter& filter = {});
  // The tasks that the job wants, in the job's order, each as often as it is wanted.
  virtual absl::StatusOr<std::vector<Task>> TasksOfJob(int64_t job) = 0;
  // With an event of kind "state" in the same transaction. A job that has not ended may take on
  // any state, a paused one but running: it is queued again first. kFailedPrecondition otherwise.
  virtual absl::Status SetJobState(const Ownership& ownership, int64_t id, JobState state,
                                   const std::string& message) = 0;
  absl::Status SetJobState(int64_t id, JobState state, const std::string& message) {
    return SetJobState(Ownership(), id, state, message);
  }
  // The running time of a running job so far, for its limit (Job::ran_ns). No event.
  virtual absl::Status SetJobRan(const Ownership& ownership, int64_t id, int64_t ran_ns) = 0;
  absl::Status SetJobRan(int64_t id, int64_t ran_ns) { return SetJobRan(Ownership(), id, ran_ns); }
  // How far the tasks of each job have come, in the job's order. Read at once, and as cheap as a
  // few rows a task: it is kept by the transactions that settle.
  virtual absl::StatusOr<std::vector<std::vector<TaskProgress>>> ProgressOfJobs(
      const std::vector<int64_t>& jobs) = 0;
  absl::StatusOr<std::vector<TaskProgress>> Progress(int64_t job);

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

  // ---- changes ----
  // Calls `on_change` whenever a job has changed, by whichever daemon, until the subscription is
  // destroyed: it was submitted, is in another state, or something happened to it (an event). A
  // call follows the commit, and may stand for several changes. Who subscribes first and reads then
  // misses nothing: what is committed after the read is told after it.
  //
  // `on_change` is called on any thread, by several at a time, maybe before the call that made the
  // change returns. It must not block, call the store, or destroy its subscription. A store in
  // SQLite or in memory tells what is written through itself: another process may only read.
  virtual std::unique_ptr<Subscription> Subscribe(
      std::function<void(const Change& change)> on_change) = 0;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_JOB_STORE_H_
