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

// What is written that belongs to a job.
enum class JobWrite {
  kItself,    // its state, its running time, its events
  kProposal,  // of a trial
  kLease,     // or a release of one of its trials
};
// kAborted where the job goes on and is of another epoch. Epoch 0 may write all; what is left of a
// job that has ended is anybody's who wants it too, and so are the trials of one that does not run
// for now. kFailedPrecondition for an owner's proposal while its job does not run.
absl::Status MayWrite(int64_t job, JobState state, const Ownership& of_job,
                      const Ownership& ownership, JobWrite what = JobWrite::kItself);
// kInvalidArgument without a name.
absl::Status MayBegin(const std::string& owner);
// kAborted: a newer life of the same name has begun.
absl::Status NewerLife(const Ownership& ownership);
// Whether a life that has so much of its time left, less than nothing where that has run out, takes
// the jobs of owners that are not in time (JobStore::TakeJobs).
bool MayTake(int64_t left_ns, int64_t lease_ns);
// Epochs start above it: jobs of older versions are of the epochs 0 and 1, whoever ran them.
inline constexpr int64_t kOldestEpoch = 1;
// Whether `asked`, which has the client id of `known`, is the request that it was made by, as far
// as is known. kAlreadyExists where it is another's, or asks for something else.
absl::Status IsSameRequest(const Job& known, const Job& asked);
// An ended job stays as it is; everything else may happen (a drained daemon queues its jobs again).
absl::Status MaySetState(const Job& job, JobState to);
// Nothing happens to a job that has ended.
absl::Status MayHappen(const Job& job);
// Whether a settled trial is one of TaskProgress::trials.
bool IsProgress(Purpose purpose, Outcome outcome);
// kInvalidArgument without a reason.
absl::Status MayRetract(int64_t record, const std::string& reason);
// Whether the job is one of those that a list asks for.
bool Matches(const Job& job, const JobFilter& filter);
// Only a running job runs.
absl::Status MaySetRan(const Job& job);
// Only open trials are leased.
absl::Status MayLease(const Trial& trial);
// Only under the newest fence, and not once settled. To release twice is no error.
absl::Status MayRelease(const Trial& trial, int64_t fence);
// As it is when it is proposed, whatever became of it elsewhere.
Trial Proposed(Trial trial);
// What becomes of a trial that MayLease, MayRelease.
void LeaseAs(const LeaseRequest& request, int64_t fence, Trial& trial);
void ReleaseAs(const ReleaseRequest& request, Trial& trial);
// What becomes of one that is settled.
void SettleAs(Trial& trial);
SettleResult JudgeSettle(const Trial& trial, int64_t fence);
// kInvalidArgument unless `final` may come of the success `record` of the confirm trial `trial`.
absl::Status IsFinalOf(const Final& final, const Trial& trial, const Record& record);
// The final as the transaction adds it that settles its confirm trial with this record.
Final WonIn(Final final, int64_t record);
// The worker whose lease an import settles.
inline constexpr char kImporter[] = "import";

// kNotFound: "there is no trial 7".
absl::Status NoSuch(const std::string& what, int64_t id);

// The kind of the event that a trial was settled.
inline constexpr char kTrialSettled[] = "trial_settled";
// Payloads of the events that stores write themselves: JSON objects.
std::string StatePayload(JobState state, const std::string& message);
std::string SettledPayload(const Trial& trial, const Record& record);
std::string FinalPayload(int64_t id, const Final& final);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_TRANSITIONS_H_
