// Classifies errors of the tuning database for a daemon that runs jobs from it.
#ifndef HONE_TUNER_STORE_ERROR_H_
#define HONE_TUNER_STORE_ERROR_H_

#include "absl/status/status.h"

namespace hone::tuner {

// It passes: too many changes wait to be committed (kResourceExhausted), or the database cannot be
// reached (kUnavailable). The same is asked again a little later; every call allows for that, also
// where the first may have been stored.
inline bool Passes(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsUnavailable(status);
}

// The store works and does not let this daemon do it: the job is another daemon's by now
// (kAborted), or has ended or is paused (kFailedPrecondition), or, by the same two codes, this
// daemon has to end: a newer life of it has begun, or a newer version of Hone has migrated the
// database. What JobStore::RenewJobs refuses is refused for one of these last two.
inline bool IsRefused(const absl::Status& status) {
  return absl::IsAborted(status) || absl::IsFailedPrecondition(status);
}

// All others are fatal: the daemon stops, and the next one goes on from what was committed.

}  // namespace hone::tuner

#endif  // HONE_TUNER_STORE_ERROR_H_
