#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// What decides how a job's kernels are timed, and how long it ran over all its daemons.
const char kJobFigures[] = R"sql(
ALTER TABLE jobs ADD COLUMN constant_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN ran_ns INTEGER NOT NULL DEFAULT 0;
)sql";

}  // namespace hone::tuning_db::sqlite
