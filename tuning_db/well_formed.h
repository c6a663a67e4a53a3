// What a store takes, whichever it is. Pure functions: kInvalidArgument where it refuses.
//
// Texts (names, digests, configs, targets, whatever is looked for) are UTF-8 without NUL bytes, as
// PostgreSQL keeps no others. Messages for people (Record::message, Job::message,
// DeviceRest::reason) come from workers as they are, and may hold any bytes.
#ifndef HONE_TUNING_DB_WELL_FORMED_H_
#define HONE_TUNING_DB_WELL_FORMED_H_

#include <string_view>

#include "absl/status/status.h"
#include "tuning_db/store.h"
#include "tuning_db/types.h"

namespace hone::tuning_db {

// `what` is the word for it: "a name".
absl::Status IsText(std::string_view what, std::string_view text);

absl::Status IsWellFormed(const Task& task);
// As it is proposed.
absl::Status IsWellFormed(const Trial& trial);
absl::Status IsWellFormed(const LeaseRequest& request);
// As it is settled, without its trial.
absl::Status IsWellFormed(const Record& record);
absl::Status IsWellFormed(const DeviceRest& rest);
// Without a worker, too.
absl::Status IsWellFormed(const Quarantine& quarantine);
absl::Status IsWellFormed(const Final& final);
// That `winner` and `default_entry` name entries, which a final has to be well formed.
absl::Status HasItsEntries(const Final& final);
// Without a skeleton, a target or kernels, too.
absl::Status IsWellFormed(const ModelFinal& final);
// Without a client id, too.
absl::Status IsWellFormed(const Job& job);
absl::Status IsWellFormed(const Miss& miss);
absl::Status IsWellFormed(const JobFilter& filter);
absl::Status IsWellFormed(const RecordFilter& filter);

}  // namespace hone::tuning_db

#endif  // HONE_TUNING_DB_WELL_FORMED_H_
