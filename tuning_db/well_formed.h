// Checks what every store accepts. Pure functions; kInvalidArgument for what stores refuse.
//
// Texts (names, digests, configs, targets, filters) must be UTF-8 without NUL bytes, since
// PostgreSQL stores no others. Messages for people (Record::message, Job::message,
// DeviceRest::reason) may have any bytes: they come from workers unchanged.
#ifndef HONE_TUNING_DB_WELL_FORMED_H_
#define HONE_TUNING_DB_WELL_FORMED_H_

#include <string_view>

#include "absl/status/status.h"
#include "tuning_db/store.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

// The message calls the text `what`, such as "a name".
absl::Status IsText(std::string_view what, std::string_view text);

absl::Status IsWellFormed(const Task& task);
// Checks the fields that a proposal has.
absl::Status IsWellFormed(const Trial& trial);
absl::Status IsWellFormed(const LeaseRequest& request);
// Checks everything but of_trial.
absl::Status IsWellFormed(const Record& record);
absl::Status IsWellFormed(const DeviceRest& rest);
// Refuses a quarantine without a worker, too.
absl::Status IsWellFormed(const Quarantine& quarantine);
absl::Status IsWellFormed(const Final& final);
// Whether `winner` and `default_entry` are indices of entries, as they must be in a well-formed
// final.
absl::Status HasItsEntries(const Final& final);
// Refuses a final without a skeleton, a target or kernels, too.
absl::Status IsWellFormed(const ModelFinal& final);
// Refuses a job without a client id, too.
absl::Status IsWellFormed(const Job& job);
absl::Status IsWellFormed(const Miss& miss);
absl::Status IsWellFormed(const JobFilter& filter);
absl::Status IsWellFormed(const RecordFilter& filter);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_WELL_FORMED_H_
