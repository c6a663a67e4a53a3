#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// Searches that end before their budget (decision 0016).
const char kEarlyEnds[] = R"sql(
ALTER TABLE jobs ADD COLUMN ends_early INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN elsewhere_ns REAL NOT NULL DEFAULT 0;
ALTER TABLE finals ADD COLUMN ended_share REAL NOT NULL DEFAULT 0;
)sql";

}  // namespace hone::tuning_db::sqlite
