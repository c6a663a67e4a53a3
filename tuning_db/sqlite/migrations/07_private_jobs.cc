#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// Which jobs end with their daemon's client. Before, an embedded daemon's socket alone told: it
// was in a folder that mkdtemp had named (decision 0014).
const char kPrivateJobs[] = R"sql(
ALTER TABLE jobs ADD COLUMN private INTEGER NOT NULL DEFAULT 0 CHECK (private IN (0, 1));
UPDATE jobs SET private = 1 WHERE owner GLOB
  'unix:*/hone-[A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9]/socket';
)sql";

}  // namespace hone::tuning_db::sqlite
