// Classifies errors of the tuning database for a daemon that runs jobs from it.
#ifndef HONE_TUNER_STORE_ERROR_H_
#define HONE_TUNER_STORE_ERROR_H_

#include "absl/status/status.h"

namespace hone::tuner {

// Whether the error passes: too many changes wait to be committed (kResourceExhausted), or the
// database cannot be reached (kUnavailable). The daemon makes the same call again a little later.
// Every call of the store may be made again, even where the first one may have been stored.
inline bool Passes(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsUnavailable(status);
}

// Whether the store works but refuses this daemon the write: the job is another daemon's by now
// (kAborted), or has ended or is paused (kFailedPrecondition). The same two codes also say that
// this daemon has to end: a newer life of it has begun, or a newer version of Hone has migrated the
// database. JobStore::RenewJobs refuses for these last two reasons only.
inline bool IsRefused(const absl::Status& status) {
  return absl::IsAborted(status) || absl::IsFailedPrecondition(status);
}

// All other errors are fatal: the daemon stops, and the next one goes on from what was committed.

}  // namespace hone::tuner

#endif  // HONE_TUNER_STORE_ERROR_H_
