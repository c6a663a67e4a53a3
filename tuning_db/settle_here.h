// Settles trials without a worker.
#ifndef HONE_TUNING_DB_SETTLE_HERE_H_
#define HONE_TUNING_DB_SETTLE_HERE_H_

#include "absl/status/statusor.h"
#include "tuning_db/ownership.h"
#include "tuning_db/trial_store.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

// Leases the record's trial for nobody and settles it, whoever has it leased. Where others lease it
// meanwhile, or settle it, the last lease wins. False: it was settled before, and its record is
// that one. May be repeated. Errors are those of Lease and Settle.
absl::StatusOr<bool> SettleHere(TrialStore& store, const Ownership& ownership,
                                const Record& record);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_SETTLE_HERE_H_
