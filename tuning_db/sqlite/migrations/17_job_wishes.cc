#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// Jobs know when they were submitted, and which devices may measure for them. Of those of before
// the time is unknown, and any device may.
const char kJobWishes[] = R"sql(
ALTER TABLE jobs ADD COLUMN submitted_at_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN sandbox INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN device_class TEXT NOT NULL DEFAULT '';
)sql";

}  // namespace hone::tuning_db::sqlite
