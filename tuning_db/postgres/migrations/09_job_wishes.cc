#include "tuning_db/postgres/migrations/migrations.h"

namespace hone::tuning_db::postgres {

// Jobs know when they were submitted, and which devices may measure for them. Of those of before
// the time is unknown, and any device may.
const char kJobWishes[] = R"sql(
ALTER TABLE jobs ADD COLUMN submitted_at_ns bigint NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN sandbox integer NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN device_class text NOT NULL DEFAULT '';
)sql";

}  // namespace hone::tuning_db::postgres
