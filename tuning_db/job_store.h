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
  std::string target = "";            // a substring of its text; empty: any
  std::string model = "";             // a substring of its name; empty: any
  int64_t submitted_since_ns = 0;     // at this time or later; 0: any
};

struct JobPage {
  std::vector<Job> jobs;
  // The cursor of the next page: opaque, and valid for the same order only.
  std::string next;
  bool is_last = false;
};

// A part of Store; its comment (store.h) says what holds for every call.
class JobStore {
 public:
  virtual ~JobStore() = default;

  // ---- owners ----
  // Whether several owners may be *in time* at once: an owner is, by the store's clock, until
  // `lease_ns` have passed since its latest BeginEpoch, TakeJobs or RenewJobs. False: whoever
  // writes owns all unfinished jobs.
  virtual bool HasManyOwners() const = 0;
  // Begins a life of the daemon `owner`: returns it with an epoch greater than any before it, in
  // time from now on. Older epochs of the same name are no longer in time. kInvalidArgument without
  // a name.
  virtual absl::StatusOr<Ownership> BeginEpoch(const std::string& owner, int64_t lease_ns) = 0;
  // Renews as RenewJobs does, then makes this owner the owner of every unfinished job whose owner
  // is not in time, and returns the jobs that it took, by id. In a store with one writer (SQLite)
  // no other owner is alive, and it takes all. Call it at least every third of `lease_ns`.
  //
  // An owner that calls so late that less than a third of its time is left is renewed but takes
  // nothing: what delayed it (an outage of the database, a suspended machine) may have delayed all
  // others as well, and they have until its next call to renew.
  virtual absl::StatusOr<std::vector<Job>> TakeJobs(const Ownership& ownership,
                                                    int64_t lease_ns) = 0;
  // Keeps the owner in time for `lease_ns` from now on. Returns the ids of the unfinished jobs that
  // it still owns: if it renews too late, it may have lost some. kAborted if a newer life of the
  // same name has begun.
  virtual absl::StatusOr<std::vector<int64_t>> RenewJobs(const Ownership& ownership,
                                                         int64_t lease_ns) = 0;

  // ---- jobs ----
  // Adds a queued job, submitted now, of the owner and epoch that it names, and returns it. If
  // there is a job with the same client_id, nothing is written: it is returned as it is, or
  // kAlreadyExists if it is another request (IsSameRequest).
  virtual absl::StatusOr<Job> SubmitJob(const Job& job) = 0;
  virtual absl::StatusOr<Job> GetJob(int64_t id) = 0;
  // The job with the client id; nullopt if there is none.
  virtual absl::StatusOr<std::optional<Job>> JobOfClient(const std::string& client_id) = 0;
  // At most `limit` (0: all) jobs that match, after `cursor` (empty: from the beginning).
  // kInvalidArgument for a cursor that did not come from a page of this order.
  virtual absl::StatusOr<JobPage> ListJobs(const JobFilter& filter, Order order,
                                           const std::string& cursor, int64_t limit) = 0;
  // All jobs that match, the oldest first.
  absl::StatusOr<std::vector<Job>> Jobs(const JobFilter& filter = {});
  // The task of each entry of Job::tasks, in that order; a task may come more than once.
  virtual absl::StatusOr<std::vector<Task>> TasksOfJob(int64_t job) = 0;
  // Sets the state, and adds an event of kind "state", in one transaction. An unfinished job may
  // take on any state, except that a paused one cannot run before it is queued again.
  // kFailedPrecondition otherwise.
  virtual absl::Status SetJobState(const Ownership& ownership, int64_t id, JobState state,
                                   const std::string& message) = 0;
  absl::Status SetJobState(int64_t id, JobState state, const std::string& message) {
    return SetJobState(Ownership(), id, state, message);
  }
  // Sets Job::ran_ns, the time that a running job has spent running so far. Adds no event.
  virtual absl::Status SetJobRan(const Ownership& ownership, int64_t id, int64_t ran_ns) = 0;
  absl::Status SetJobRan(int64_t id, int64_t ran_ns) { return SetJobRan(Ownership(), id, ran_ns); }
  // The progress of each job's tasks, in the job's order, all of one state of the database. This is
  // cheap, a few rows for each task, because settling keeps the counts up to date.
  virtual absl::StatusOr<std::vector<std::vector<TaskProgress>>> ProgressOfJobs(
      const std::vector<int64_t>& jobs) = 0;
  absl::StatusOr<std::vector<TaskProgress>> Progress(int64_t job);

  // ---- events ----
  // Adds an event to a job and returns its number. What happens to a task (a settled trial, a
  // final) becomes an event of every unfinished job that wants the task, whichever job it was done
  // for; the stores add those events themselves. The event with which a job ends is its last.
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
  // Calls `on_change` whenever any daemon has changed a job, until the subscription is destroyed:
  // when a job is submitted, changes its state, or gets an event. A call comes after the commit,
  // and may stand for several changes. Subscribe first and then read, and nothing is missed: what
  // is committed after the read is told after it.
  //
  // `on_change` may be called on any thread, on several at once, and before the call that made the
  // change returns. It must not block, call the store, or destroy its subscription. SQLite and
  // memory stores tell only of what is written through themselves, since no other process may
  // write.
  virtual std::unique_ptr<Subscription> Subscribe(
      std::function<void(const Change& change)> on_change) = 0;
};

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_JOB_STORE_H_
