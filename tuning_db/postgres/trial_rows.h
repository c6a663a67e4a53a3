// A trial as columns of a query, for the queries that join it.
#ifndef HONE_TUNING_DB_POSTGRES_TRIAL_ROWS_H_
#define HONE_TUNING_DB_POSTGRES_TRIAL_ROWS_H_

#include "tuning_db/postgres/connection.h"
#include "tuning_db/types.h"

namespace hone::tuning_db::postgres {

// The columns of a row t of `trials`, with its texts s (signature), c (config) and v (worker) and
// its lease l.
inline constexpr char kTrialColumns[] =
    " t.id, t.task, s.body, c.body, t.nest_digest, t.purpose, t.round, t.job, "
    "t.state, t.attempt, t.fence, v.body, t.strikes, l.device, l.limit_ns, "
    "l.assigned ";
inline constexpr char kTrialTexts[] =
    " JOIN texts s ON s.id = t.signature JOIN texts c ON c.id = t.config "
    "LEFT JOIN texts v ON v.id = t.worker LEFT JOIN leases l ON l.trial = t.id ";

// Reads the trial from kTrialColumns, which begin at column `first`.
Trial TrialOf(const Row& row, int first);

}  // namespace hone::tuning_db::postgres

#endif  // HONE_TUNING_DB_POSTGRES_TRIAL_ROWS_H_
