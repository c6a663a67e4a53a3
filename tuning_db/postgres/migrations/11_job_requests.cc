#include "tuning_db/postgres/migrations/migrations.h"

namespace hone::tuning_db::postgres {

// Jobs know what was asked for under their client ids. It is unknown of those of before.
const char kJobRequests[] = R"sql(
ALTER TABLE jobs ADD COLUMN request_digest text NOT NULL DEFAULT '';
)sql";

}  // namespace hone::tuning_db::postgres
