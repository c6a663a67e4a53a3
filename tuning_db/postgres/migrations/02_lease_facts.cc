#include "tuning_db/postgres/migrations/migrations.h"

namespace hone::tuning_db::postgres {

// What a lease's result has to say (assigned.h); nothing is known of those that are open now.
const char kLeaseFacts[] = R"sql(
ALTER TABLE leases ADD COLUMN assigned text NOT NULL DEFAULT '';
)sql";

}  // namespace hone::tuning_db::postgres
