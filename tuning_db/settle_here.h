// Settles trials without a worker.
#ifndef HONE_TUNING_DB_SETTLE_HERE_H_
#define HONE_TUNING_DB_SETTLE_HERE_H_

#include "absl/status/statusor.h"
#include "tuning_db/ownership.h"
#include "tuning_db/trial_store.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

// Leases the record's trial without a worker, which ends any other lease, and settles it. If
// somebody else leases it meanwhile, leases it again. False if somebody else has settled it: it
// then keeps that record. May be repeated. Errors are those of Lease and Settle.
absl::StatusOr<bool> SettleHere(TrialStore& store, const Ownership& ownership,
                                const Record& record);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_SETTLE_HERE_H_
