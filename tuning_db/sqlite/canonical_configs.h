// The migration that brings stored configs into canonical form.
#ifndef HONE_TUNING_DB_SQLITE_CANONICAL_CONFIGS_H_
#define HONE_TUNING_DB_SQLITE_CANONICAL_CONFIGS_H_

#include "absl/status/status.h"
#include "tuning_db/sqlite/connection.h"

namespace hone::tuning_db::sqlite {

// Rewrites the configs of trials and finals, and the config digests of trials. If a task has trials
// of two spellings of one config, both stay: the later one gets an unused round in its key. A step
// of its caller's transaction.
absl::Status CanonicaliseConfigs(Connection& db);

}  // namespace hone::tuning_db::sqlite

#endif  // HONE_TUNING_DB_SQLITE_CANONICAL_CONFIGS_H_
