#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// What a lease's result has to say (assigned.h). Of leases that are open now it is not known: what
// comes under them is not believed, and they are measured again.
const char kLeaseFacts[] = R"sql(
ALTER TABLE leases ADD COLUMN assigned TEXT NOT NULL DEFAULT '';
)sql";

}  // namespace hone::tuning_db::sqlite
