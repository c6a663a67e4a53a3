#include "tuning_db/postgres/migrations/migrations.h"

namespace hone::tuning_db::postgres {

// Jobs know who asked for them, and may be paused. Who asked for those of before is unknown.
const char kJobsOfMany[] = R"sql(
ALTER TABLE jobs ADD COLUMN submitter text NOT NULL DEFAULT '';
ALTER TABLE jobs DROP CONSTRAINT jobs_state_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_state_check CHECK (state BETWEEN 0 AND 5);
DROP INDEX jobs_open;
CREATE INDEX jobs_open ON jobs (id) WHERE state IN (0, 1, 5);
)sql";

}  // namespace hone::tuning_db::postgres
