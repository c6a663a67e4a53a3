#include "tuning_db/sqlite/migrations/migrations.h"

namespace hone::tuning_db::sqlite {

// Jobs know what was asked for under their client ids. It is unknown of those of before.
const char kJobRequests[] = R"sql(
ALTER TABLE jobs ADD COLUMN request_digest TEXT NOT NULL DEFAULT '';
)sql";

}  // namespace hone::tuning_db::sqlite
