// The rules of the state machines, written once for every store. Pure functions.
#ifndef HONE_TUNING_DB_TRANSITIONS_H_
#define HONE_TUNING_DB_TRANSITIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tuning_db/store.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

// The kinds of writes to what belongs to a job.
enum class JobWrite {
  kItself,    // its state, its running time, its events
  kProposal,  // a new trial
  kLease,     // a lease or release of one of its trials
};
// Whether `ownership` may write to a job in this state that belongs to `of_job`. OK with epoch 0,
// for a job that has ended, and for leases and releases while the job is not running. Otherwise
// kAborted if the job is of another epoch, and kFailedPrecondition for a proposal while it is not
// running.
absl::Status MayWrite(int64_t job, JobState state, const Ownership& of_job,
                      const Ownership& ownership, JobWrite what = JobWrite::kItself);
// kInvalidArgument if the name is empty or not a text.
absl::Status MayBegin(const std::string& owner);
// The error kAborted for a life whose owner has begun a newer one.
absl::Status NewerLife(const Ownership& ownership);
// Whether a life that stays in time for `left_ns` more (negative: it is not in time) takes the jobs
// of owners that are not in time (JobStore::TakeJobs).
bool MayTake(int64_t left_ns, int64_t lease_ns);
// New epochs are greater than this. Jobs of older versions of Hone have epoch 0 or 1, whoever ran
// them.
inline constexpr int64_t kOldestEpoch = 1;
// OK if `asked`, which has the client id of `known`, may be the request that `known` was made from.
// kAlreadyExists if another submitter made it, or if it asks for something else.
absl::Status IsSameRequest(const Job& known, const Job& asked);
// Whether the job may take on the state `to`: kFailedPrecondition for a job that has ended in
// another state, and for a paused one that would run before it is queued again. Any other change is
// allowed: a drained daemon, say, queues its jobs again.
absl::Status MaySetState(const Job& job, JobState to);
// Whether an event may be added to the job: kFailedPrecondition for a job that has ended, which
// gets no more events.
absl::Status MayHappen(const Job& job);
// Whether a settled trial counts in TaskProgress::trials.
bool IsProgress(Purpose purpose, Outcome outcome);
// kInvalidArgument if the reason is empty or not a text.
absl::Status MayRetract(int64_t record, const std::string& reason);
// Whether the job meets all conditions of the filter.
bool Matches(const Job& job, const JobFilter& filter);
// kFailedPrecondition unless the job is running.
absl::Status MaySetRan(const Job& job);
// kFailedPrecondition for a settled trial.
absl::Status MayLease(const Trial& trial);
// kFailedPrecondition unless `fence` is the trial's newest, or if the trial is settled. Releasing
// twice is not an error.
absl::Status MayRelease(const Trial& trial, int64_t fence);
// The trial as newly proposed, without the state and lease that it had elsewhere.
Trial Proposed(Trial trial);
// These apply a lease or a release that is allowed to the trial.
void LeaseAs(const LeaseRequest& request, int64_t fence, Trial& trial);
void ReleaseAs(const ReleaseRequest& request, Trial& trial);
// Makes the trial settled.
void SettleAs(Trial& trial);
SettleResult JudgeSettle(const Trial& trial, int64_t fence);
// kInvalidArgument unless `trial` is a confirm trial of the final's task and signature, and
// `record` a success.
absl::Status IsFinalOf(const Final& final, const Trial& trial, const Record& record);
// The final as it is added when this record settles its confirm trial.
Final WonIn(Final final, int64_t record);
// The name of the worker under whose lease imported trials are settled.
inline constexpr char kImporter[] = "import";

// kNotFound: "there is no trial 7".
absl::Status NoSuch(const std::string& what, int64_t id);

// The kind of the event for a settled trial.
inline constexpr char kTrialSettled[] = "trial_settled";
// Payloads of the events that stores write themselves: JSON objects.
std::string StatePayload(JobState state, const std::string& message);
std::string SettledPayload(const Trial& trial, const Record& record);
std::string FinalPayload(int64_t id, const Final& final);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_TRANSITIONS_H_
